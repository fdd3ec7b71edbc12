package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// TestHealth has what watches over the service asks for: open to all, and
// telling nothing.
// Proves decision 1 (no token needed), decision 5 (/readyz).
func TestHealth(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		for _, path := range []string{"/healthz", "/readyz", "/healthz/", "/readyz/"} {
			for _, auth := range []string{"", noAuth, bearer("nonsense")} {
				a := s.do(t, get(path).as(auth))
				if a.status != 200 {
					t.Errorf("%s: status %d: %s", a, a.status, a.body)
				}
				if a := s.do(t, request{method: "HEAD", path: path}.as(auth)); a.status != 200 || a.body != "" {
					t.Errorf("%s: status %d, body %q", a, a.status, a.body)
				}
			}
			a := s.do(t, post(path, "{}"))
			a.want(t, 405, `{"message":"..."}`)
			wantAllow(t, a, "GET, HEAD")
		}
	})
}

// metric returns the sum of the metrics with a name whose labels all occur in
// the line.
func metric(t *testing.T, text, name string, labels ...string) float64 {
	t.Helper()
	sum := 0.0
lines:
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(line, label) {
				continue lines
			}
		}
		fields := strings.Fields(line)
		var value float64
		if err := json.Unmarshal([]byte(fields[len(fields)-1]), &value); err != nil {
			t.Fatalf("metric %q: %v", line, err)
		}
		sum += value
	}
	return sum
}

// wantedFigure is a metric and what it has to be.
type wantedFigure struct {
	name   string
	labels []string
	want   float64
}

// metrics returns all metrics, once some are as wanted: a request is counted
// when its response is on its way, so that the last ones may come a little later
// late.
func (s *service) metrics(t *testing.T, wanted []wantedFigure) string {
	t.Helper()
	for deadline := time.Now().Add(testenv.WaitTimeout); ; {
		a := s.send(t, get("/metrics").as(noAuth))
		if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Fatalf("status %d, Content-Type %s", a.status, a.header.Get("Content-Type"))
		}
		var wrong []string
		for _, w := range wanted {
			if got := metric(t, a.body, w.name, w.labels...); got != w.want {
				wrong = append(wrong, fmt.Sprintf("%s %v is %v, want %v", w.name, w.labels, got, w.want))
			}
		}
		if wrong == nil {
			return a.body
		}
		if time.Now().After(deadline) {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	}
}

// TestMetrics has the metrics: requests by route and status, uploads, database
// times, and nothing that a stranger may make up.
// Proves decision 1 (no token needed), decision 5 (metrics).
func TestMetrics(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		o := s.addOne(t)
		s.do(t, get(v2.list()))
		s.do(t, get(v2.order(o)))
		s.do(t, get(v2.order(o)))
		s.do(t, get("/v2/orders/missing"))
		s.uploaded(t, v1, o, "a.pdf", "12345")
		s.do(t, v1.upload(o, "a.exe", "x"))
		for i := range 20 {
			s.do(t, get("/made-up-"+strings.Repeat("x", i)))
			s.do(t, request{method: "MADEUP" + strings.Repeat("X", i), path: "/v2/orders"})
		}
		text := s.metrics(t, []wantedFigure{
			{"merchant_orders_requests_total", []string{`route="/v2/orders/{orderReference}"`, `status="200"`, `method="GET"`}, 2},
			{"merchant_orders_requests_total", []string{`route="/v2/orders/{orderReference}"`, `status="404"`}, 1},
			{"merchant_orders_request_seconds_count", []string{`route="/v2/orders/{orderReference}"`}, 3},
			{"merchant_orders_uploads_total", []string{`result="stored"`}, 1},
			{"merchant_orders_uploads_total", []string{`result="refused"`}, 1},
			{"merchant_orders_uploaded_bytes_total", nil, 5},
			{"merchant_orders_requests_total", []string{`status="405"`}, 20},
		})
		if metric(t, text, "merchant_orders_database_seconds_count") == 0 {
			t.Error("no database times")
		}
		labels := strings.Join(regexp.MustCompile(`\{[^}]*\}`).FindAllString(text, -1), "\n")
		for _, secret := range []string{o.reference, "made-up", "MADEUP", s.token, s.id()} {
			if strings.Contains(labels, secret) {
				t.Errorf("the metrics tell of %s", secret)
			}
		}
	})
}

// TestLog reads what a server has logged after all kinds of requests: one JSON
// line for each, and nowhere a token, a customer's data, a query, a body or a
// file's name. Lines of changes have the reference of the order.
// Proves decision 5 (request id, log).
func TestLog(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		customer := map[string]any{"email": "secret.mail@example.com", "firstName": "Secretname", "lastName": "Secretlast", "phone": "6999999999"}
		o := s.addOne(t, document{"reference": "CHANGED-REF", "customer": customer, "notes": "secretnote"})
		e := s.uploaded(t, v1, o, "secretfile.pdf", "secretcontent")
		unknown := elsewhere(t)
		sent := 4 // by newService, addOne and uploaded
		for _, end := range s.endpoints(o, e.id, "secretfile.pdf") {
			for _, auth := range []string{"", noAuth, basic("secret.user@example.com", s.token), bearer("mo_secretmalformed"), bearer(unknown), bearer(s.operator)} {
				s.do(t, end.r.as(auth))
				sent++
			}
		}
		for _, r := range []request{
			get("/api/orders?email=secretquery&token=" + s.token), get("/v2/orders?page=secretquery"), get("/v2/orders/secretpath"), get("/secretpath"),
			put(v1.order(o), `{"status":"secretbody"}`), put(v1.order(o), `{"status":"D","reason":"secretbody"}`), v2.upload(o, "secretfile.exe", "x"),
			get(s.storage + "/invoices/CHANGED-REF/secretfile.pdf"), get("/v2/orders/" + s.token), {method: "SECRETMETHOD", path: "/v2/orders"},
			get("/v2/orders").with("X-Request-Id", s.token).with("User-Agent", "secretagent").with("Referer", "secretreferer").with("Cookie", "secretcookie"),
		} {
			s.do(t, r)
			sent++
		}
		s.Stop(t)
		log := s.Log()
		lines := 0
		for line := range strings.Lines(log) {
			var record map[string]any
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Errorf("a line is no JSON: %s", line)
			}
			if record["msg"] == "request" {
				lines++
			}
		}
		if lines != sent {
			t.Errorf("%d requests have left %d lines", sent, lines)
		}
		secret := regexp.MustCompile(`(?i)secret[a-z.@-]*|69999999|mop?_[0-9A-Za-z]{6,}|c2VjcmV0`)
		if found := secret.FindAllString(log+s.Stdout(), -1); found != nil {
			t.Errorf("the log contains %q", found)
		}
		for _, token := range []string{s.token, s.operator, unknown} {
			if strings.Contains(log, token) || strings.Contains(log, token[3:]) {
				t.Error("the log has a token")
			}
		}
	})
}
