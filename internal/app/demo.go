package app

import (
	"context"
	"strings"
	"time"

	"merchantorders/internal/demo"
	"merchantorders/internal/token"
)

// againLifetime is how long a token is good that a demo found in place gets.
const againLifetime = 30 * 24 * time.Hour

// showDemo makes a token for the demo merchant and prints it with three
// commands to try.
func (s *server) showDemo(ctx context.Context, result demo.Result, baseURL string) error {
	if result == demo.Skipped {
		return s.say("There are merchants in this data folder already: no demo was made.")
	}
	words, lifetime := "is made, with orders in every state. Its token:", time.Duration(0)
	if result == demo.Kept {
		words, lifetime = "is there as it was. One more token for it, good for 30 days:", againLifetime
	}
	reference, err := demo.Example(ctx, s.orders)
	if err != nil {
		return err
	}
	text, _, err := s.tokens.Create(ctx, demo.MerchantID, token.AllScopes, lifetime)
	if err != nil {
		return err
	}
	curl := func(options, path string) string {
		return "  curl " + options + "-H 'Authorization: Bearer " + text + "' " + quoted(baseURL+path)
	}
	return s.say("The demo merchant %d, %s, %s\n\n  %s\n\nTry a list, one order, and accepting it:\n\n%s\n%s\n%s\n",
		demo.MerchantID, demo.MerchantName, words, text,
		curl("", "/v2/orders?itemsPerPage=3"),
		curl("", "/v2/orders/"+reference),
		curl("-X PATCH ", "/v2/orders/"+reference+"/accept"))
}

// quoted makes a text one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
