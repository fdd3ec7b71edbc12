package commands_test

import (
	"strings"
	"testing"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// TestUnreadableOrder damages the stored details of one of three orders. Exports, feeds
// and searches name it, and go on with the others.
func TestUnreadableOrder(t *testing.T) {
	t.Parallel()
	s := filled(t)
	for _, text := range []string{`substr(details, 2)`, `x'ffff'`} {
		setVersion(t, s.Data, `UPDATE orders SET details = `+text+` WHERE reference = 'T-2'`)
		operator := strings.TrimSpace(s.Run(t, "", "token", "create", "--operator").Stdout)
		for path, want := range map[string][]string{
			"/v2/orders/export":                 {`"id":"T-1","state"`, `{"id":"T-2","problem":"The service cannot read`, `"id":"T-3","state"`, `{"summary":{"orders":3},"complete":true`},
			"/v2/events?include=order":          {`"order":{"id":"T-1"`, `"orderProblem":"The service cannot read`, `"order":{"id":"T-3"`},
			"/v2/orders/unanswered":             {`"id":"T-2"`, `"id":"T-3"`},
			"/operator/orders/export":           {`"reference":"T-1"`, `"reference":"T-2","problem":`, `"reference":"T-3"`, `"complete":true`},
			"/operator/events?include=order":    {`"order":{"id":"T-1"`, `"orderProblem":`, `"order":{"id":"T-3"`},
			"/operator/orders?q=" + "T-2":       {`"T-2"`},
			"/operator/orders?state=registered": {`"T-1"`, `"T-2"`, `"T-3"`},
		} {
			token, base := s.Token, s.BaseURL
			if strings.HasPrefix(path, "/operator") {
				token, base = operator, s.AdminURL()
			}
			got := testenv.Send(t, token, "GET", base+path, "")
			got.WantStatus(t, 200)
			testenv.Contains(t, path, string(got.Body), want...)
		}
		export := s.Run(t, "", "export", "--orders")
		if export.Code != 1 || strings.Count(export.Stdout, "\n") != 2 || !strings.Contains(export.Stderr, "order T-2: its details cannot be decoded") {
			t.Errorf("export --orders: %+v", export)
		}
		c := testenv.Of(client.New(s.BaseURL, s.Token)).Must(t)
		var got []string
		for o, err := range c.Export(client.Filter{}).Orders(t.Context()) {
			testenv.NoError(t, err)
			got = append(got, o.Reference)
			if (o.Problem != "") != (o.Reference == "T-2") {
				t.Errorf("%s: problem %q", o.Reference, o.Problem)
			}
		}
		testenv.Equal(t, "orders of the client", []string{"T-1", "T-2", "T-3"}, got)
	}
}
