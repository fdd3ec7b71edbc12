package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestFindAhead finds orders and pages while one types, and says what of an order matches if
// the result does not show it.
func TestFindAhead(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST", func(document map[string]any) {
		document["carrier"].(map[string]any)["trackingCodes"] = "TRACK-77"
		document["customer"].(map[string]any)["lastName"] = "Παπαδοπούλου"
		document["customer"].(map[string]any)["phone"] = "+306900000777"
	}), newOrder(2, "SECOND"), newOrder(3, "THEIRS", ofMerchant(theirs)))
	b := s.signedIn(s.token)
	for text, want := range map[string][]string{
		"first":                  {">FIRST</strong>", "1 order<"},
		"ΠΑΠΑΔΟΠΟΥ":              {">FIRST</strong>"},
		"track-77":               {">FIRST</strong>", "<bdi>TRACK-77</bdi>"},
		"69000007":               {"306900000777</bdi>"},
		"theirs":                 {"No order matches"},
		"χρήστ":                  {`href="/console/people"`},
		"to sh":                  {`href="/console/ship"`},
		"":                       {"No order matches"},
		strings.Repeat("x", 300): {"No order matches"},
	} {
		b.get("/console/find?q="+url.QueryEscape(text)).WantText(t, http.StatusOK, want...)
	}
	reader := s.signedIn(s.NewToken(ours, order.ScopeOrdersRead))
	testenv.Lacks(t, "pages found", reader.get("/console/find?q=people").Body, "/console/people")
}
