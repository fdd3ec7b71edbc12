package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

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
		testenv.Equal(t, "lines of requests in the log", sent, lines)
		secret := regexp.MustCompile(`(?i)secret[a-z.@-]*|69999999|mop?_[0-9A-Za-z]{6,}|c2VjcmV0`)
		testenv.Equal(t, "secrets in the log", nil, secret.FindAllString(log+s.Stdout(), -1))
		for _, token := range []string{s.token, s.operator, unknown} {
			testenv.Lacks(t, "log", log, token, token[3:])
		}
	})
}
