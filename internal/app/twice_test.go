package app

import (
	"context"
	"testing"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
)

// countingPoster counts the messages to each URL.
type countingPoster map[string]int

func (p countingPoster) Post(_ context.Context, m webhook.Message) delivery.Result {
	p[m.URL]++
	return delivery.Result{Status: 199 + p[m.URL]}
}

func TestWebhookTwice(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]int{
		"https://shop.example/hook": 1, "https://shop.example/hook?sandbox-fault=twice": 2, "https://shop.example/hook?a=1&sandbox-fault=twice": 2,
		"https://shop.example/sandbox-fault=twice": 1, "https://shop.example/hook?sandbox-fault=once": 1,
	} {
		sent := countingPoster{}
		if got := (twicePoster{sent}).Post(t.Context(), webhook.Message{URL: url}); sent[url] != want || got.Status != 199+want {
			t.Errorf("%s: sent %d times, result %+v", url, sent[url], got)
		}
	}
}
