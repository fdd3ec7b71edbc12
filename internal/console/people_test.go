package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/order"
)

var (
	loginLink  = regexp.MustCompile(`/console/login/[0-9A-Za-z_-]{43}`)
	sessionIDs = regexp.MustCompile(`name="session" value="([^"]*)"`)
)

// TestPeople invites a colleague, who answers an order under a name and is signed out.
func TestPeople(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	const people = "/console/people"
	b, others := s.signedIn(s.token), s.signedIn(s.otherToken)
	form := b.get(people).postForm(t, people)
	for field, wrong := range map[string][2]string{
		"name": {" ", "Enter a name."}, "scope": {"audit", "not possible"},
	} {
		values := url.Values{"key": form["key"], "name": {"x"}, "scope": {"orders:read"}, field: {wrong[0]}}
		b.post(people, values).WantText(t, http.StatusUnprocessableEntity, wrong[1])
	}
	form.Set("name", "Νίκος <b>")
	form["scope"] = order.DefaultScopes.Names()
	invited := b.post(people, form)
	invited.WantText(t, http.StatusOK, "Give this link to Νίκος &lt;b&gt;.")
	if again := b.post(people, form); loginLink.MatchString(again.Body) {
		t.Error("a double click shows the link again")
	}
	colleague := s.browser()
	colleague.post(loginLink.FindString(invited.Body), nil).WantStatus(t, http.StatusSeeOther)
	colleague.post(acceptPath, colleague.get(orderPage).form(t, acceptPath)).WantStatus(t, http.StatusSeeOther)
	colleague.get(orderPage).WantText(t, http.StatusOK, "· <bdi>Νίκος &lt;b&gt;</bdi>", "<bdi>you</bdi>")
	colleague.get(people).WantText(t, http.StatusForbidden)
	b.get(orderPage).WantText(t, http.StatusOK, `<span class="help"><bdi>Νίκος &lt;b&gt;</bdi></span>`)
	s.operator(order.OperatorScopes).get("/console/operator/audit").WantText(t, http.StatusOK, "<bdi>Νίκος &lt;b&gt;</bdi>")

	// A token may not invite with more than it has.
	keeper := s.signedIn(s.NewToken(ours, order.ScopeTokens|order.ScopeOrdersRead))
	form = keeper.get(people).postForm(t, people)
	form.Set("name", "Μαρία")
	form["scope"] = []string{"orders:write"}
	keeper.post(people, form).WantText(t, http.StatusUnprocessableEntity, "does not have all of these rights")

	list := b.get(people)
	list.WantText(t, http.StatusOK, "Νίκος &lt;b&gt;", "this sign-in")
	id := ""
	for _, row := range strings.Split(list.Body, "<tr>") {
		if strings.Contains(row, "Νίκος") {
			id = sessionIDs.FindStringSubmatch(row)[1]
		}
	}
	end := url.Values{"key": form["key"], "session": {id}}
	others.post(people+"/end", end)
	colleague.get(orderPage).WantText(t, http.StatusOK, "A-1")
	b.post(people+"/end", end).WantStatus(t, http.StatusSeeOther)
	colleague.get(orderPage).WantStatus(t, http.StatusSeeOther)
	b.post(people+"/end", url.Values{"key": b.get(people).postForm(t, people)["key"], "session": {"x"}}).WantStatus(t, http.StatusSeeOther)
	if body := b.get(people + "?done=ended").Body; strings.Contains(body, "Νίκος") || !strings.Contains(body, "has ended") {
		t.Error("the session is still listed")
	}
}
