package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

var sessionSubjects = []subject{
	{"sessions/a whole life", testSessionLife},
	{"sessions/login links", testLoginLink},
	{"sessions/overview", testOverview},
}

// testSessionLife signs in at one instance and uses the session at the other.
func testSessionLife(f *fixture) {
	made := f.addToken(f.a, token.Hash{1}, token.Token{MerchantID: alpha, Scopes: order.DefaultScopes, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)})
	session := token.Session{TokenID: made.ID, CreatedAt: noon, LastUsedAt: noon}
	old := token.Hash{7}
	for hash, used := range map[token.Hash]time.Time{{2}: noon, old: noon.Add(-time.Hour), {8}: noon.Add(-time.Second)} {
		s := session
		s.LastUsedAt = used
		testenv.NoError(f, f.b.AddSession(f.Context(), hash, s, noon.Add(-2*time.Hour)))
	}
	// What an instance has read before does not hide later changes.
	if _, _, err := f.b.SessionGrant(f.Context(), token.Hash{2}); err != nil {
		f.Fatal(err)
	}
	f.create(minimal(alpha, "R-1"))
	at := noon.Add(5 * time.Minute)
	testenv.NoError(f, f.a.TouchSession(f.Context(), token.Hash{2}, at))
	session.LastUsedAt, session.MerchantName = at, "Alpha Shop"
	got, grant, err := f.b.SessionGrant(f.Context(), token.Hash{2})
	testenv.NoError(f, err)
	if diff := cmp.Diff(session, got); diff != "" {
		f.Errorf("session (-want +got):\n%s", diff)
	}
	same, err := f.b.Grant(f.Context(), token.Hash{1})
	if diff := cmp.Diff(same, grant); err != nil || diff != "" || grant.DataVersion.Event != 1 {
		f.Errorf("grant of the token and of the session (-token +session), %v:\n%s", err, diff)
	}
	// A sign-in deletes the sessions that have expired.
	testenv.NoError(f, f.a.AddSession(f.Context(), token.Hash{3}, session, noon.Add(-time.Minute)))
	f.expectNoSession(old)
	for range 2 {
		testenv.NoError(f, f.a.EndSession(f.Context(), token.Hash{2}, noon))
		f.expectNoSession(token.Hash{2})
	}
	if g, err := f.a.Grant(f.Context(), token.Hash{1}); err != nil || !g.RevokedAt.IsZero() {
		f.Errorf("the token after the sign-out: %+v, %v", g, err)
	}
}

func (f *fixture) expectNoSession(hash token.Hash) {
	f.Helper()
	for _, store := range []Store{f.a, f.b} {
		if s, _, err := store.SessionGrant(f.Context(), hash); !errors.Is(err, token.ErrNoSession) {
			f.Errorf("session %+v, error %v, want %v", s, err, token.ErrNoSession)
		}
	}
}

// testLoginLink lets many use one link at once.
func testLoginLink(f *fixture) {
	link := token.LoginLink{MerchantID: alpha, Scopes: order.ScopeOrdersRead, ExpiresAt: noon.Add(time.Minute)}
	add := func(store Store, hash token.Hash, link token.LoginLink) error {
		return store.ChangeTokens(f.Context(), func(tx token.Tx) error { return tx.AddLoginLink(f.Context(), hash, link, noon) })
	}
	unknown := link
	unknown.MerchantID = 404
	if err := add(f.a, token.Hash{9}, unknown); !errors.Is(err, order.ErrMerchantNotFound) {
		f.Errorf("a link for a merchant that does not exist: %v", err)
	}
	testenv.NoError(f, add(f.a, token.Hash{1}, link))
	use := func(store Store, n byte, refuse error) error {
		return store.UseLoginLink(f.Context(), token.Hash{1}, token.Hash{2, n}, func(got token.LoginLink) (token.Hash, token.Token, token.Session, error) {
			if got != link {
				f.Errorf("the link is %+v, want %+v", got, link)
			}
			made := token.Token{MerchantID: got.MerchantID, Scopes: got.Scopes, CreatedAt: noon}
			return token.Hash{3, n}, made, token.Session{OwnsToken: true, CreatedAt: noon, LastUsedAt: noon}, refuse
		})
	}
	refusal := errors.New("refused")
	if err := use(f.a, 0, refusal); !errors.Is(err, refusal) {
		f.Errorf("error %v, want %v", err, refusal)
	}
	var used atomic.Int64
	var all sync.WaitGroup
	for n := range byte(8) {
		store := []Store{f.a, f.b}[n%2]
		all.Go(func() {
			switch err := use(store, n, nil); {
			case err == nil:
				used.Store(int64(n))
			case !errors.Is(err, token.ErrNoLoginLink):
				f.Errorf("use: %v", err)
			}
		})
	}
	all.Wait()
	n := byte(used.Load())
	session, grant, err := f.b.SessionGrant(f.Context(), token.Hash{2, n})
	if err != nil || !session.OwnsToken || grant.MerchantID != alpha || grant.Scopes != order.ScopeOrdersRead {
		f.Fatalf("session %+v, grant %+v, %v", session, grant, err)
	}
	if tokens, err := f.a.Tokens(f.Context(), token.Filter{}, noon); err != nil || len(tokens) != 1 {
		f.Errorf("%d tokens, %v: a link was used more than once", len(tokens), err)
	}
	testenv.NoError(f, f.a.EndSession(f.Context(), token.Hash{2, n}, noon))
	if g, err := f.b.Grant(f.Context(), token.Hash{3, n}); err != nil || g.RevokedAt.IsZero() {
		f.Errorf("the token of the link after the sign-out: %+v, %v", g, err)
	}
}

// testOverview reads what the overview of the console shows.
func testOverview(f *fixture) {
	day := order.DayOf(noon)
	for i, state := range []order.State{order.Registered, order.InProcessing, order.Registered, order.InProcessing, order.Canceled} {
		o := dated(alpha, string(rune('A'+i)), noon.Add(-time.Duration(i)*24*time.Hour), state)
		o.ExpiresAt = noon.Add(time.Duration(i) * time.Hour)
		f.create(o)
	}
	f.create(dated(beta, "foreign", noon, order.Registered))
	f.upload(f.a, order.ByReference("B"), "a.pdf")
	counts, err := f.b.DayCounts(f.Context(), alpha, day-3)
	want := []order.DayCount{{Day: day - 3, State: order.InProcessing, Orders: 1}, {Day: day - 2, State: order.Registered, Orders: 1},
		{Day: day - 1, State: order.InProcessing, Orders: 1}, {Day: day, State: order.Registered, Orders: 1}}
	if diff := cmp.Diff(want, counts); err != nil || diff != "" {
		f.Errorf("day counts, %v (-want +got):\n%s", err, diff)
	}
	for limit, want := range map[int][]string{1: {"C"}, 9: {"C", "A"}} {
		var got []string
		unanswered, err := f.b.Unanswered(f.Context(), alpha, limit)
		for _, o := range unanswered {
			got = append(got, o.Reference)
			if want := f.order(f.a, alpha, order.ByReference(o.Reference)).ExpiresAt; !o.ExpiresAt.Equal(want) {
				f.Errorf("%s expires at %s, want %s", o.Reference, o.ExpiresAt, want)
			}
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			f.Errorf("unanswered, %v (-want +got):\n%s", err, diff)
		}
	}
	for examined, want := range map[int]string{1: "", 2: "D"} { // B, the newer one, has a file
		orders, err := f.a.WithoutInvoice(f.Context(), alpha, order.InProcessing, examined, 9)
		got := ""
		for _, o := range orders {
			got += o.Reference
		}
		if err != nil || got != want {
			f.Errorf("of %d without invoice: %q, want %q: %v", examined, got, want, err)
		}
	}
}
