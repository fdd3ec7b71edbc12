package console_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var tokenText = regexp.MustCompile(`mop?_[0-9A-Za-z]{39}`)

// TestTokens creates, rotates and revokes tokens; each text is shown once.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	b, other := s.signedIn(s.token), s.signedIn(s.otherToken)
	const list = "/console/tokens"
	form := b.get(list).postForm(t, list)
	for field, wrong := range map[string][2]string{
		"scope": {"audit", "not possible"}, "days": {"0", "from 1 to 3650"}, "label": {"a\nb", "on one line"},
	} {
		values := url.Values{"key": form["key"], "scope": {"orders:read"}, "days": {"30"}, "label": {"x"}, field: {wrong[0]}}
		b.post(list, values).WantText(t, http.StatusUnprocessableEntity, wrong[1])
	}
	b.post(list, form).WantText(t, http.StatusUnprocessableEntity, "at least one right")
	form["scope"] = []string{"orders:read"}
	form.Set("label", "<b>till</b>")
	created := b.post(list, form)
	created.WantText(t, http.StatusOK, "not shown again", "&lt;b&gt;till&lt;/b&gt;", `name="days" type="number" autocomplete="off" value="365"`) // also for a second token
	text := tokenText.FindString(created.Body)
	if again := b.post(list, form); tokenText.MatchString(again.Body) {
		t.Error("a double click shows the text again")
	}
	s.signedIn(text).get("/console/orders").WantText(t, http.StatusOK)
	s.signedIn(text).get(list).WantText(t, http.StatusForbidden)

	grant := testenv.Of(s.Tokens.Authenticate(t.Context(), text, netip.Addr{})).Must(s.T)
	one := list + "/" + strconv.FormatInt(grant.ID, 10)
	other.get(one+"/revoke").WantText(t, http.StatusNotFound)
	other.post(one+"/revoke", url.Values{"key": form["key"]}).WantText(t, http.StatusNotFound)
	key := hiddenField.FindStringSubmatch(b.get(one + "/rotate").Body)[2]
	rotated := b.post(one+"/rotate", url.Values{"key": {key}, "overlap": {"1"}})
	rotated.WantText(t, http.StatusOK, "not shown again", "is valid until")
	key = hiddenField.FindStringSubmatch(b.get(one + "/revoke").Body)[2]
	b.post(one+"/revoke", url.Values{"key": {key}}).WantText(t, http.StatusSeeOther)
	if _, err := s.Tokens.Authenticate(t.Context(), text, netip.Addr{}); err == nil {
		t.Error("the revoked token is valid")
	}
	s.browser().post("/", url.Values{"token": {text}}).WantText(t, http.StatusForbidden)

	operator := s.operator(order.ScopeTokens)
	const all = "/console/operator/tokens"
	operator.get(all+"?merchant=400").WantText(t, http.StatusOK)
	form = operator.get(all).postForm(t, all)
	form["scope"], form["merchant"] = []string{"orders:read"}, []string{"12345"}
	operator.post(all, form).WantText(t, http.StatusUnprocessableEntity, `value="12345"`)
	form.Set("merchant", "400")
	operator.post(all, form).WantText(t, http.StatusOK, "not shown again")
	key = hiddenField.FindStringSubmatch(operator.get(all + "/1/rotate").Body)[2]
	operator.post(all+"/1/rotate", url.Values{"key": {key}, "overlap": {"1"}}).WantText(t, http.StatusOK, "not shown again")
}
