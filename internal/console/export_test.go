package console_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestExport exports views of more orders than a page of the store has.
func TestExport(t *testing.T) {
	t.Parallel()
	const orders = 230
	var documents [][]byte
	for n := range orders {
		documents = append(documents, newOrder(n+1, fmt.Sprintf("A-%03d", n), func(document map[string]any) {
			if n%2 == 1 {
				document["state"] = "in-processing"
			}
			if n == 0 {
				customer := document["customer"].(map[string]any)
				customer["firstName"], customer["lastName"], customer["company"] = `=HYPERLINK("http://evil.example")`, "Maria;=cmd|'/C calc'!A0;", "@SUM(A1)"
				customer["email"], customer["phone"] = "\ttab", "+30 210"
				document["total"] = 1205
			}
		}))
	}
	s := start(t, append(documents, newOrder(900, "B-1", ofMerchant(theirs)))...)
	b := s.signedIn(s.token)
	for query, want := range map[string]int{"": orders, "?state=in-processing": orders / 2, "?q=a-00": 10, "?from=2026-11-21": 0, "?from=2026-11-20&to=2026-11-20": orders} {
		got := b.get("/console/orders.csv" + query)
		got.WantText(t, http.StatusOK)
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(got.Body, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != want+1 || !strings.HasPrefix(got.Body, "\ufeff\"id\",\"legacyId\",") {
			t.Errorf("%q: %d rows, want %d with the heading: %v", query, len(rows), want+1, err)
		}
		seen := make(map[string]bool)
		for lines := json.NewDecoder(strings.NewReader(b.get("/console/orders.ndjson" + query).Body)); lines.More(); {
			var line struct{ ID, Total string }
			if err := lines.Decode(&line); err != nil || line.Total == "" {
				t.Fatalf("%q: %+v: %v", query, line, err)
			}
			seen[line.ID] = true
		}
		if len(seen) != want || seen["B-1"] {
			t.Errorf("%q: %d orders in NDJSON, want %d", query, len(seen), want)
		}
	}
	got := b.get("/console/orders.csv")
	// Spreadsheets must not take a text for a formula.
	row := `"A-000","900001","registered","2026-11-20T09:59:00Z","","EUR","12.05","GR","false",` +
		`"'=HYPERLINK(""http://evil.example"")","Maria;'=cmd|'/C calc'!A0;","'@SUM(A1)","'` + "\ttab\",\"'+30 210\"\r\n"
	if !strings.Contains(got.Body, row) {
		t.Errorf("%q is not in %.300s", row, got.Body)
	}
	if got.Header.Get("Content-Disposition") != `attachment; filename="orders.csv"` {
		t.Errorf("Content-Disposition: %s", got.Header.Get("Content-Disposition"))
	}
}

// TestList goes through the pages of a list and of a search.
func TestList(t *testing.T) {
	t.Parallel()
	var documents [][]byte
	for n := range 60 {
		documents = append(documents, newOrder(n+1, fmt.Sprintf("A-%03d", n)))
	}
	s := start(t, documents...)
	b := s.signedIn(s.token)
	b.get("/console/orders").WantText(t, http.StatusOK, "60 orders", "1–25 of 60", "A-000", `href="/console/orders?page=2"`, `href="/console/orders?page=3"`)
	b.get("/console/orders?page=3&state=registered").WantText(t, http.StatusOK, "51–60 of 60", "A-059", `href="/console/orders?page=2&amp;state=registered"`)
	first := b.get("/console/orders?q=a-0")
	first.WantText(t, http.StatusOK, "At least 50 orders found, newest first", "A-024", `value="a-0"`)
	_, next, _ := strings.Cut(first.Body, `rel="next" href="`)
	next, _, _ = strings.Cut(next, `"`)
	b.get(strings.ReplaceAll(next, "&amp;", "&")).WantText(t, http.StatusOK, "A-025", "A-049")
	b.get("/console/orders?q=nothing").WantText(t, http.StatusOK, "No order matches")
}
