package client_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// FuzzDecode decodes any bytes as the response of every call. The result is a value
// or an *Error of a kind: one line of printable text without the token.
func FuzzDecode(f *testing.F) {
	for _, call := range calls {
		f.Add(200, "application/json", []byte(call.good))
	}
	f.Add(400, "application/json", []byte(coded("10304", "Cannot Accept Order")))
	f.Add(404, "application/json", []byte(flat("The invoice was not found.")))
	f.Add(401, "text/html", []byte("<html>"))
	f.Add(503, "", []byte(`{"error":{"code":"`+secret+`","message":"a\u202eb\u0000"}}`))
	f.Add(200, "application/json", []byte(`{"params":{"page":1,"itemsPerPage":9223372036854775807,"totalItems":-1},"orders":[{}],"order":{"id":"x","createdAt":5}}`))
	c := testenv.Of(client.New("http://127.0.0.1:1", secret)).Must(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		for _, err := range c.DecodeAll(status, contentType, body) {
			var e *client.Error
			if !errors.As(err, &e) || e.Kind == nil || e.Message == "" {
				t.Fatalf("%#v", err)
			}
			text := e.Error() + e.Code + e.Message
			if strings.Contains(text, secret) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 10_000 {
				t.Fatalf("%q", text)
			}
		}
	})
}

// FuzzLink parses any Link header. The result is another query, or none.
func FuzzLink(f *testing.F) {
	for _, value := range []string{
		`<http://x/v2/orders?page=2>; rel="next"`, `</v2/orders?cursor=a,b>; rel="prev next"; title="a, \"b\"", <x>; rel=first`,
		`<?page=2>;rel=next`, `<`, `<>;rel="next"`, `"`, `a,<b`, `<//evil/v2/orders?x>; rel=next`, ``,
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		next, linked, err := client.NextLink("http://service/v2/orders?page=1", value)
		if err != nil && next != "" || next == "page=1" || next != "" && !linked {
			t.Fatalf("%q leads to %q, %v, %v", value, next, linked, err)
		}
	})
}
