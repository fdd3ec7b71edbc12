package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/demo"
	"merchantorders/internal/token"
)

// repeatedTokenLifetime is the lifetime of the token for a demo that exists already.
const repeatedTokenLifetime = 30 * 24 * time.Hour

// showDemo creates a token for the demo merchant and prints it with three
// commands to try.
func (s *server) showDemo(ctx context.Context, result demo.Result, baseURL string) error {
	if result == demo.Skipped {
		return s.print("The data folder already contains merchants: no demo was created.")
	}
	status, lifetime := "was created with orders in every state. Its token:", time.Duration(0)
	if result == demo.Exists {
		status, lifetime = "exists already and was not changed. Another token for it, valid for 30 days:", repeatedTokenLifetime
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
	_, err = fmt.Fprintf(s.stdout, "The demo merchant %d (%s) %s\n\n  %s\n\nTry a list, one order, and accepting it:\n\n%s\n%s\n%s\n\n",
		demo.MerchantID, demo.MerchantName, status, text,
		curl("", "/v2/orders?itemsPerPage=3"),
		curl("", "/v2/orders/"+reference),
		curl("-X PATCH ", "/v2/orders/"+reference+"/accept"))
	return err
}

// quoted quotes a text for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
