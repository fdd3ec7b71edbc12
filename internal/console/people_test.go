package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

var (
	loginLink  = regexp.MustCompile(`/console/login/[0-9A-Za-z_-]{43}`)
	sessionIDs = regexp.MustCompile(`name="session" value="([^"]*)"`)
)

// sessionOf returns the id of a person's session in a list of sessions.
func sessionOf(t *testing.T, list page, name string) string {
	t.Helper()
	for row := range strings.SplitSeq(list.Body, "<tr>") {
		if strings.Contains(row, name) {
			return sessionIDs.FindStringSubmatch(row)[1]
		}
	}
	t.Fatalf("no session of %s", name)
	return ""
}

// TestPeople invites a colleague, who answers an order under a name and is signed out.
// Proves decision 1 (people in a browser).
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
	late := b.get(orderPage).form(t, acceptPath)
	colleague.post(acceptPath, colleague.get(orderPage).form(t, acceptPath)).WantStatus(t, http.StatusSeeOther)
	conflict := b.post(acceptPath, late)
	if conflict.WantStatus(t, http.StatusConflict); !regexp.MustCompile(`(?s)role="alert".{0,300}<bdi>Νίκος &lt;b&gt;</bdi>`).MatchString(conflict.Body) {
		t.Error("the conflict does not name who was first")
	}
	colleague.get(orderPage).WantText(t, http.StatusOK, "</span> <bdi>Νίκος &lt;b&gt;</bdi>", "<bdi>you</bdi>", "Accepted by you, <time")
	colleague.get(people).WantText(t, http.StatusForbidden)
	if tokens := b.get("/console/tokens").Body; !strings.Contains(tokens, "<bdi>Νίκος &lt;b&gt;</bdi>") || strings.Count(tokens, "/rotate") != strings.Count(tokens, "<code>mo_") {
		t.Error("a token without a text is not listed, or can be rotated")
	}
	b.get(orderPage).WantText(t, http.StatusOK, `<span class="help"><bdi>Νίκος &lt;b&gt;</bdi></span>`)
	s.operator(order.OperatorScopes).get("/console/operator/audit").WantText(t, http.StatusOK, `<bdi>Νίκος &lt;b&gt;</bdi></a>`)

	// A token may not invite with more than it has.
	keeper := s.signedIn(s.NewToken(ours, order.ScopeTokens|order.ScopeOrdersRead))
	form = keeper.get(people).postForm(t, people)
	form.Set("name", "Μαρία")
	form["scope"] = []string{"orders:write"}
	keeper.post(people, form).WantText(t, http.StatusUnprocessableEntity, "does not have all of these rights")

	list := b.get(people)
	list.WantText(t, http.StatusOK, "Νίκος &lt;b&gt;", "this sign-in")
	end := url.Values{"key": form["key"], "session": {sessionOf(t, list, "Νίκος")}}
	others.post(people+"/end", end)
	colleague.get(orderPage).WantText(t, http.StatusOK, "A-1")
	b.post(people+"/end", end).WantStatus(t, http.StatusSeeOther)
	colleague.get(orderPage).WantStatus(t, http.StatusSeeOther)
	b.post(people+"/end", url.Values{"key": b.get(people).postForm(t, people)["key"], "session": {"x"}}).WantStatus(t, http.StatusSeeOther)
	if body := b.get(people + "?done=ended").Body; strings.Contains(body, "Νίκος") || !strings.Contains(body, "has ended") {
		t.Error("the session is still listed")
	}
}

// TestOperatorSessions lists the sessions of operators and ends one. Those of a store are
// not among them, and a store ends none of them.
func TestOperatorSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	const people = "/console/operator/tokens/people"
	b, staff := s.operator(order.OperatorScopes), s.signedIn(s.token)
	made := testenv.Of(s.Tokens.Add(t.Context(), order.Command(), token.Request{Operator: true, Scopes: order.ScopeTokens, Label: "Ελένη <b>"}, order.Options[token.Created]{})).Must(t)
	eleni := s.signedIn(made.Text)
	list := b.get(people)
	list.WantText(t, http.StatusOK, "<bdi>Ελένη &lt;b&gt;</bdi>", "this sign-in", "Operators also sign in with")
	testenv.Equal(t, "sessions that can be ended", 1, len(sessionIDs.FindAllString(list.Body, -1)))
	end := url.Values{"key": list.postForm(t, people+"/end")["key"], "session": {sessionOf(t, list, "Ελένη")}}
	staff.post("/console/people/end", end)
	eleni.get(people).WantText(t, http.StatusOK, "this sign-in")
	b.post(people+"/end", end).WantStatus(t, http.StatusSeeOther)
	eleni.get(people).WantStatus(t, http.StatusSeeOther)
	s.signedIn(made.Text) // the token stays
	b.get("/console/operator/audit?action=session.ended").WantText(t, http.StatusOK, `name=&#34;Ελένη &lt;b&gt;&#34;`, fmt.Sprintf(`?token=%d">%[1]d <bdi>Ελένη &lt;b&gt;</bdi></a>`, made.Token.ID))
}

// TestInviteOperator invites a colleague of the marketplace, with no more than the inviter
// may do.
func TestInviteOperator(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	const people = "/console/operator/tokens/people"
	b := s.operator(order.ScopeTokens | order.ScopeOrdersRead | order.ScopeAudit)
	form := b.get(people).postForm(t, people)
	form.Set("name", "Ελένη <b>")
	for _, scope := range []string{"customers", "orders:write"} {
		form["scope"] = []string{scope}
		b.post(people, form).WantStatus(t, http.StatusUnprocessableEntity)
	}
	form["scope"] = []string{"orders:read", "audit"}
	invited := b.post(people, form)
	invited.WantText(t, http.StatusOK, "Give this link to Ελένη &lt;b&gt;.", s.URL+"/console/login/")
	if again := b.post(people, form); loginLink.MatchString(again.Body) {
		t.Error("a double click shows the link again")
	}
	eleni := s.browser()
	link := loginLink.FindString(invited.Body)
	eleni.post(link, nil).WantStatus(t, http.StatusSeeOther)
	eleni.post(link, nil).WantText(t, http.StatusForbidden, "was used")
	eleni.get("/console/operator/orders/355/A-1").WantText(t, http.StatusOK, "Ελένη &lt;b&gt;")
	eleni.get(people).WantStatus(t, http.StatusForbidden)
	eleni.get("/console/operator/audit?action=login_link.created").WantText(t, http.StatusOK, `scopes=orders:read,audit name=&#34;Ελένη &lt;b&gt;&#34;`)
	eleni.get("/console/operator/audit?action=token.created").WantText(t, http.StatusOK, "by=login-link scopes=orders:read,audit", "<bdi>Ελένη &lt;b&gt;</bdi></a>")
	list := b.get(people)
	b.post(people+"/end", url.Values{"key": list.postForm(t, people+"/end")["key"], "session": {sessionOf(t, list, "Ελένη")}}).WantStatus(t, http.StatusSeeOther)
	eleni.get("/console/operator/orders").WantStatus(t, http.StatusSeeOther)
}
