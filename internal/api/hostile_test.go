package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// Values that nothing has. Those of paths are escaped.
var (
	hostileSegments = []string{
		"0", "-1", "9223372036854775808", "%00", "%ff%fe", "..%2f..%2fetc%2fpasswd", "%27%20OR%201=1--", "%CE%A9%E2%80%AE", strings.Repeat("x", 2000),
	}
	hostileValues = []string{
		"-1", "0", "x", "1.5", "9223372036854775808", "1e3", "\x00", "\xff\xfe", " ", "2026-13-01", "AAAA!", "registered,", "' OR 1=1 --", strings.Repeat("9", 201), strings.Repeat("Ω", 1000),
	}
	hostileJSON = []string{
		`null`, `true`, `0`, `-1`, `1.5`, `1e3`, `1e400`, `9223372036854775808`, `""`, `"x"`, `"1"`, `"a\nb"`, `"\u0000"`, `"\ud800"`, `"` + strings.Repeat("x", 20_001) + `"`, `[]`, `{}`, `[null]`, `["x"]`,
	}
	hostileBodies = []string{``, `null`, `[]`, `"x"`, `{`, `{}`, `{"unknown":1}`, "{\"\xff\":1}", strings.Repeat(`{"a":`, 2000)}
)

// TestHostileRequests sends a request of every operation of the OpenAPI documents with
// every part replaced by what cannot be right. No response is a fault of the service,
// what is accepted is described (CheckHandler compares it), and what is refused changes
// nothing. The message of a refusal names the parameter or the field.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	examples := testenv.Of(openapitest.Published().Examples()).Must(t)
	h := hostile{service: startExamples(t, faulty[""]), T: t}
	sent := make(map[string]bool)
	for _, e := range examples {
		operation := e.Method + " " + e.Route
		if e.Document == "service" || e.Status >= 300 && e.Status != 404 {
			continue
		}
		sent[operation] = true
		h.paths(e)
		h.queries(e)
		h.bodies(e)
	}
	if len(sent) < 50 || h.refused < 1000 {
		t.Errorf("%d operations, %d refused requests", len(sent), h.refused)
	}
}

// hostile sends hostile requests.
type hostile struct {
	*service
	*testing.T
	refused int
}

// try sends a request, and returns the response.
func (h *hostile) try(e openapitest.Example, path, body string) testenv.Response {
	h.Helper()
	before := h.newest()
	got := h.Send(h.tokenFor(h.T, e), e.Method, path, body, "Content-Type", "application/json")
	switch {
	case got.Status >= 500:
		h.Errorf("%s %.200s %.200q: %d %s", e.Method, path, body, got.Status, got.Body)
	case got.Status < 400:
	case h.newest() != before:
		h.Errorf("%s %.200s %.200q: %d, and something has changed", e.Method, path, body, got.Status)
	default:
		h.refused++
	}
	return got
}

// notNamed matches a refusal of the whole request, or of two fields, and not of a parameter or
// a field.
var notNamed = regexp.MustCompile(`"code":"invalid_(payload|move)"|"message":"(state is required, or a field to correct|[a-z ]* must (not )?be given together)`)

// names is try for a wrong parameter or field, which the message of a refusal names.
func (h *hostile) names(e openapitest.Example, name, path, body string) testenv.Response {
	h.Helper()
	got := h.try(e, path, body)
	if strings.Contains(got.Body, `"code":"invalid_`) && !strings.Contains(got.Body, `"message":"`+name) && !notNamed.MatchString(got.Body) {
		h.Errorf("%s %.200s %.200q does not name %s: %s", e.Method, path, body, name, got.Body)
	}
	return got
}

// newest returns the newest entry of the audit log: every change has one.
func (h *hostile) newest() string {
	h.Helper()
	page, err := h.Audit.Page(h.Context(), order.AuditQuery{Limit: 1})
	if err != nil || len(page.Entries) == 0 {
		h.Fatalf("audit log: %+v, %v", page, err)
	}
	return fmt.Sprint(page.Entries[0].MerchantID, " ", page.Entries[0].Seq)
}

// paths replaces each parameter of the path.
func (h *hostile) paths(e openapitest.Example) {
	path, query, _ := strings.Cut(e.Path, "?")
	segments := strings.Split(path, "/")
	for i, name := range strings.Split(e.Route, "/") {
		if !strings.HasPrefix(name, "{") {
			continue
		}
		for _, value := range hostileSegments {
			changed := slices.Clone(segments)
			changed[i] = value
			path := strings.Join(changed, "/")
			// A list of what has an unknown number is empty.
			if status := h.try(e, path+"?"+query, string(e.Body)).Status; status < 400 && name != "{merchantReference}" {
				h.Errorf("%s %.200s: %d", e.Method, path, status)
			}
		}
	}
}

// queries replaces each parameter of the query, and sends it twice. What is for operators only
// refuses parameters that there are not.
func (h *hostile) queries(e openapitest.Example) {
	path, query, _ := strings.Cut(e.Path, "?")
	given := testenv.Of(url.ParseQuery(query)).Must(h.T)
	if e.Document == "operator" && len(e.Query) > 0 && !strings.Contains(e.Route, "/webhooks") && h.names(e, "zzz", path+"?zzz=1", "").Status < 400 {
		h.Errorf("%s %s takes any parameter", e.Method, path)
	}
	for _, name := range e.Query {
		changed := maps.Clone(given)
		for _, value := range hostileValues {
			changed[name] = []string{value}
			if got := h.names(e, name, path+"?"+changed.Encode(), ""); got.Status < 400 && (name == "cursor" && value == "AAAA!" || name != "action" && !utf8.ValidString(value)) {
				h.Errorf("%s %s with %s=%.200q: %d", e.Method, path, name, value, got.Status)
			}
		}
		changed[name] = []string{"1", "2"}
		testenv.Equal(h.T, fmt.Sprintf("%s %s with %s twice", e.Method, path, name), 400, h.try(e, path+"?"+changed.Encode(), "").Status)
	}
}

// bodies replaces the whole body, and each field of it.
func (h *hostile) bodies(e openapitest.Example) {
	var fields map[string]json.RawMessage
	if e.Body == nil || json.Unmarshal(e.Body, &fields) != nil {
		return
	}
	for _, body := range hostileBodies {
		h.try(e, e.Path, body)
	}
	for _, body := range []string{string(e.Body) + "{}", string(e.Body[:len(e.Body)-1])} {
		if status := h.try(e, e.Path, body).Status; status < 400 {
			h.Errorf("%s %s with %.200s: %d", e.Method, e.Path, body, status)
		}
	}
	h.names(e, "zzz", e.Path, `{"zzz":1,`+strings.TrimSpace(string(e.Body))[1:])
	for _, name := range e.Fields {
		for _, text := range hostileJSON {
			changed := maps.Clone(fields)
			delete(changed, name)
			rest := testenv.Of(json.Marshal(changed)).Must(h.T)
			separator := ","
			if len(changed) == 0 {
				separator = ""
			}
			h.names(e, name, e.Path, fmt.Sprintf(`{%q:%s%s%s`, name, text, separator, rest[1:]))
		}
		twice := fmt.Sprintf(`{%q:1,%q:1}`, name, name)
		if status := h.try(e, e.Path, twice).Status; status < 400 {
			h.Errorf("%s %s with %.200s: %d", e.Method, e.Path, twice, status)
		}
	}
}
