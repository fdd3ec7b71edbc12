package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
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
	{"sessions/limits", testSignInLimits},
	{"sessions/unused links", testUnusedLinks},
	{"sessions/as many as may be", testManySessions},
	{"sessions/deleted tokens", testDeletedTokens},
	{"sessions/overview", testOverview},
	{"sessions/passkeys", testPasskeys},
	{"sessions/kept for people", testKept},
	{"sessions/ends of passkeys", testPasskeyEnds},
}

// testSessionLife signs in at one instance and uses the session at the other.
func testSessionLife(f *fixture) {
	made := f.addToken(f.a, token.Hash{1}, token.Token{MerchantID: alpha, Scopes: order.DefaultScopes, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)})
	session := token.Session{TokenID: made.ID, CreatedAt: noon, LastUsedAt: noon}
	old := token.Hash{7}
	for hash, used := range map[token.Hash]time.Time{{2}: noon, old: noon.Add(-token.SessionIdle), {8}: noon.Add(-time.Second)} {
		s := session
		s.LastUsedAt = used
		f.addSession(f.b, hash, s)
	}
	// What an instance has read before does not hide later changes.
	if _, _, err := f.b.SessionGrant(f.Context(), token.Hash{2}); err != nil {
		f.Fatal(err)
	}
	f.create(minimal(alpha, "R-1"))
	at := noon.Add(5 * time.Minute)
	testenv.NoError(f, f.a.TouchSession(f.Context(), token.Hash{2}, at))
	session.ID, session.LastUsedAt, session.MerchantName, session.Unanswered = token.SessionID(token.Hash{2}), at, "Alpha Shop", 1
	got, grant, err := f.b.SessionGrant(f.Context(), token.Hash{2})
	testenv.NoError(f, err)
	testenv.Equal(f, "session", session, got)
	same, err := f.b.Grant(f.Context(), token.Hash{1})
	if diff := cmp.Diff(same, grant); err != nil || diff != "" || grant.DataVersion.Event != 1 {
		f.Errorf("grant of the token and of the session (-token +session), %v:\n%s", err, diff)
	}
	// A sign-in deletes the sessions that have expired.
	f.addSession(f.a, token.Hash{3}, session)
	f.expectNoSession(old)
	for _, want := range []error{nil, token.ErrNoSession} {
		testenv.Equal(f, "end a session", want, f.a.ChangeTokens(f.Context(), func(tx token.Tx) error {
			ended, err := tx.EndSession(f.Context(), token.Hash{2})
			if ended.ID, ended.MerchantName, ended.Unanswered = session.ID, session.MerchantName, session.Unanswered; err == nil && ended != session {
				f.Errorf("the session that ended is %+v, want %+v", ended, session)
			}
			return err
		}))
		f.expectNoSession(token.Hash{2})
	}
	if g, err := f.a.Grant(f.Context(), token.Hash{1}); err != nil || !g.RevokedAt.IsZero() {
		f.Errorf("the token after the sign-out: %+v, %v", g, err)
	}
}

func (f *fixture) addSession(store Store, hash token.Hash, s token.Session) {
	f.Helper()
	testenv.NoError(f, store.ChangeTokens(f.Context(), func(tx token.Tx) error { return tx.AddSession(f.Context(), hash, s) }))
}

func (f *fixture) expectNoSession(hash token.Hash) {
	f.Helper()
	for _, store := range []Store{f.a, f.b} {
		if s, _, err := store.SessionGrant(f.Context(), hash); !errors.Is(err, token.ErrNoSession) {
			f.Errorf("session %+v, error %v, want %v", s, err, token.ErrNoSession)
		}
	}
}

// testSignInLimits signs people of a merchant in as often as a day allows: then its token
// makes tokens, but no more login links, also after somebody has signed out.
func testSignInLimits(f *fixture) {
	tokens := registry(f.a, noon)
	sessions := token.NewSessions(f.a, tokens)
	_, made, err := tokens.Create(f.Context(), alpha, order.MerchantScopes, 0)
	testenv.NoError(f, err)
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: alpha, TokenID: made.ID, Scopes: made.Scopes}
	person := token.Person{MerchantID: alpha, Scopes: order.ScopeOrdersRead}
	link := func() (token.CreatedLink, error) {
		return sessions.NewLoginLink(f.Context(), caller, person, order.Options[token.CreatedLink]{})
	}
	var last string
	for range token.MaxPerDay {
		testenv.Of(sessions.BeginAs(f.Context(), order.Caller{}, person)).Must(f)
		created := testenv.Of(link()).Must(f)
		last = testenv.Of(sessions.UseLoginLink(f.Context(), order.Caller{}, created.Secret, func(token.LoginLink) error { return nil })).Must(f)
	}
	testenv.NoError(f, sessions.End(f.Context(), order.Caller{}, last))
	testenv.Of(link()).WantError(f, "one more login link", token.ErrTooMany)
	testenv.Of(tokens.Add(f.Context(), caller, token.Request{MerchantID: alpha, Scopes: order.ScopeOrdersRead}, order.Options[token.Created]{})).Must(f)
}

// testUnusedLinks makes login links that nobody uses: they count as those that were used do,
// until they expire.
func testUnusedLinks(f *fixture) {
	now := noon
	tokens := token.NewRegistry(f.a, func() time.Time { return now })
	sessions := token.NewSessions(f.a, tokens)
	_, made, err := tokens.Create(f.Context(), alpha, order.MerchantScopes, 0)
	testenv.NoError(f, err)
	link := func(caller order.Caller, merchantID int64) error {
		_, err := sessions.NewLoginLink(f.Context(), caller, token.Person{MerchantID: merchantID, Scopes: order.ScopeOrdersRead}, order.Options[token.CreatedLink]{})
		return err
	}
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: alpha, TokenID: made.ID, Scopes: made.Scopes}
	for range token.MaxPerDay {
		testenv.NoError(f, link(caller, alpha))
	}
	testenv.Equal(f, "one more login link", token.ErrTooMany, link(caller, alpha))
	testenv.NoError(f, link(order.Command(), alpha))
	now = now.Add(token.LoginLinkLifetime)
	testenv.NoError(f, link(caller, alpha))
}

// testManySessions signs in when a merchant has as many sessions as it may, some of them with
// one token: those that were not used for the longest time end, with the tokens that were
// made for them. Others have theirs still. The sessions are listed in pages.
func testManySessions(f *fixture) {
	add := func(merchantID int64, n int) token.Token {
		return f.addToken(f.a, token.Hash{1, byte(n), byte(n >> 8)}, token.Token{MerchantID: merchantID, Scopes: order.DefaultScopes, CreatedAt: noon})
	}
	one, other, theirs := add(alpha, 0), add(alpha, 1), add(beta, 2)
	owned := add(alpha, 3)
	testenv.NoError(f, f.a.ChangeTokens(f.Context(), func(tx token.Tx) error {
		for n := range token.MaxSessions {
			s := token.Session{TokenID: other.ID, CreatedAt: noon.Add(-time.Duration(n%7) * time.Second), LastUsedAt: noon.Add(-time.Duration(n) * time.Second)}
			switch {
			case n == token.MaxSessions-1:
				s.TokenID, s.OwnsToken = owned.ID, true
			case n < token.MaxSessionsOfToken:
				s.TokenID = one.ID
			}
			if err := tx.AddSession(f.Context(), token.Hash{2, byte(n), byte(n >> 8)}, s); err != nil {
				return err
			}
		}
		return tx.AddSession(f.Context(), token.Hash{3}, token.Session{TokenID: theirs.ID, CreatedAt: noon, LastUsedAt: noon.Add(-time.Hour)})
	}))
	sessions := token.NewSessions(f.b, registry(f.b, noon.Add(time.Second)))
	caller := order.Caller{MerchantID: alpha, TokenID: one.ID}
	secret, err := sessions.Begin(f.Context(), caller)
	testenv.NoError(f, err)
	for _, n := range []int{token.MaxSessions - 1, token.MaxSessionsOfToken - 1} {
		f.expectNoSession(token.Hash{2, byte(n), byte(n >> 8)})
	}
	if _, _, err := sessions.Find(f.Context(), secret, netip.Addr{}); err != nil {
		f.Errorf("the new session: %v", err)
	}
	if revoked, err := f.a.Tokens(f.Context(), token.Filter{MerchantID: alpha, Validity: token.Revoked}, noon); err != nil || len(revoked) != 1 || revoked[0].ID != owned.ID {
		f.Errorf("revoked tokens %+v, %v", revoked, err)
	}
	listed := make(map[string]bool)
	var last token.OpenSession
	for after, pages := (*token.SessionCursor)(nil), 0; after != nil || pages == 0; pages++ {
		var open []token.OpenSession
		open, after, err = sessions.Open(f.Context(), alpha, after)
		testenv.NoError(f, err)
		for _, s := range open {
			if listed[s.ID] || !last.CreatedAt.IsZero() && s.CreatedAt.After(last.CreatedAt) {
				f.Errorf("session %+v is listed after %+v", s, last)
			}
			listed[s.ID], last = true, s
		}
	}
	testenv.Equal(f, "sessions are listed", token.MaxSessions-1, len(listed))
	if open, _, err := sessions.Open(f.Context(), beta, nil); err != nil || len(open) != 1 {
		f.Errorf("sessions of another merchant %+v, %v", open, err)
	}
}

// testLoginLink lets many use one link at once. The audit log names the token that made
// it, the requests and the addresses.
func testLoginLink(f *fixture) {
	operator := f.realOperator()
	at := func(store Store, at time.Time) *token.Sessions { return token.NewSessions(store, registry(store, at)) }
	add := func(merchantID int64) (token.CreatedLink, error) {
		return at(f.a, noon).NewLoginLink(f.Context(), operator, token.Person{MerchantID: merchantID, Name: "Νίκος", Scopes: order.ScopeOrdersRead}, order.Options[token.CreatedLink]{})
	}
	testenv.Of(add(404)).WantError(f, "a link for a merchant that does", order.ErrMerchantNotFound)
	link := testenv.Of(add(alpha)).Must(f)
	person := order.Caller{RequestID: "sign-in", Address: "192.0.2.7"}
	testenv.Of(at(f.b, link.ExpiresAt).UseLoginLink(f.Context(), person, link.Secret, func(token.LoginLink) error { return nil })).WantError(f, "an expired link", token.ErrNoLoginLink)
	var used atomic.Value
	var all sync.WaitGroup
	for n := range 8 {
		store := []Store{f.a, f.b}[n%2]
		all.Go(func() {
			switch secret, err := at(store, noon).UseLoginLink(f.Context(), person, link.Secret, func(token.LoginLink) error { return nil }); {
			case err == nil:
				used.Store(secret)
			case !errors.Is(err, token.ErrNoLoginLink):
				f.Errorf("use: %v", err)
			}
		})
	}
	all.Wait()
	secret := used.Load().(string)
	session, grant, err := at(f.b, noon).Find(f.Context(), secret, netip.Addr{})
	if err != nil || !session.OwnsToken || grant.MerchantID != alpha || grant.Scopes != order.ScopeOrdersRead {
		f.Fatalf("session %+v, grant %+v, %v", session, grant, err)
	}
	open, _, err := at(f.a, noon).Open(f.Context(), alpha, nil)
	if err != nil || len(open) != 1 || open[0].ID != session.ID || open[0].Name != "Νίκος" || open[0].Scopes != grant.Scopes {
		f.Errorf("open sessions %+v, %v, want that of %s", open, err, session.ID)
	}
	for name, others := range map[string]struct {
		merchantID int64
		now        time.Time
	}{"of another merchant": {beta, noon}, "unused for a day": {alpha, noon.Add(token.SessionIdle)}} {
		if open, _, err := at(f.a, others.now).Open(f.Context(), others.merchantID, nil); err != nil || len(open) != 0 {
			f.Errorf("sessions %s: %+v, %v", name, open, err)
		}
	}
	merchant := alpha
	made, err := f.a.Tokens(f.Context(), token.Filter{MerchantID: merchant}, noon)
	if err != nil || len(made) != 1 || made[0].CreatedBy != operator.TokenID {
		f.Errorf("tokens %+v, %v: not one, made by the token of the link", made, err)
	}
	for range 2 {
		testenv.NoError(f, at(f.a, noon).End(f.Context(), person, secret))
	}
	if made, err = f.b.Tokens(f.Context(), token.Filter{MerchantID: merchant}, noon); err != nil || made[0].RevokedAt.IsZero() {
		f.Errorf("the token of the link after the sign-out: %+v, %v", made, err)
	}
	var got []string
	for _, e := range f.auditLog(order.AuditQuery{MerchantID: &merchant, Limit: 9}) {
		if e.Action == order.MerchantUpdated {
			continue // of the fixture
		}
		got = append(got, fmt.Sprint(e.Action, " ", e.By.Actor, " ", e.By.TokenID, " ", e.By.RequestID, " ", e.By.Address, " ", e.Detail))
	}
	slices.Sort(got)
	want := []string{
		fmt.Sprint("login_link.created operator ", operator.TokenID, " ", operator.RequestID, " ", operator.Address, ` scopes=orders:read name="Νίκος"`),
		fmt.Sprint("token.created merchant ", operator.TokenID, " sign-in 192.0.2.7 by=login-link scopes=orders:read"+` name="Νίκος"`),
		fmt.Sprint("token.revoked merchant ", grant.ID, " sign-in 192.0.2.7 by=sign-out scopes=orders:read"+` name="Νίκος"`),
	}
	testenv.Equal(f, "audit", want, got)
}

// testDeletedTokens deletes the tokens of sessions that ended 30 days ago, and no others. Who
// signed in is known still. A session that 1.0.0 began is listed too.
func testDeletedTokens(f *fixture) {
	now := noon
	tokens := token.NewRegistry(f.a, func() time.Time { return now })
	sessions := token.NewSessions(f.a, tokens)
	_, program, err := tokens.Create(f.Context(), alpha, order.ScopeOrdersRead, time.Hour)
	testenv.NoError(f, err)
	var people []int64
	signIn := func(person token.Person) (secret string) {
		secret = testenv.Of(sessions.BeginAs(f.Context(), order.Caller{}, person)).Must(f)
		session, _, err := sessions.Find(f.Context(), secret, netip.Addr{})
		testenv.NoError(f, err)
		people = append(people, session.TokenID)
		return secret
	}
	signIn(token.Person{MerchantID: alpha, Name: `Νίκος "name=" Παπάς`, Scopes: order.ScopeOrdersRead})
	signIn(token.Person{MerchantID: beta, Name: "Theirs", Scopes: order.ScopeOrdersRead})
	signIn(token.Person{Operator: true, Name: "Operator", Scopes: order.OperatorScopes})
	testenv.NoError(f, sessions.End(f.Context(), order.Caller{}, signIn(token.Person{MerchantID: alpha, Scopes: order.ScopeOrdersRead})))
	ended := now.Add(token.IdentityLifetime)
	for _, step := range []struct {
		at   time.Time
		want int
	}{{now.Add(30 * 24 * time.Hour), 0}, {now.Add(30*24*time.Hour + time.Second), 1}, {ended.Add(30 * 24 * time.Hour), 0}, {ended.Add(30*24*time.Hour + time.Second), 3}} {
		now = step.at
		testenv.Of(sessions.DeleteTokens(f.Context())).Want(f, "deleted at "+now.String(), step.want)
	}
	f.expectNoSession(token.Hash{})
	testenv.Of(tokens.List(f.Context(), token.Filter{})).Want(f, "tokens left", []token.Token{program})
	testenv.Equal(f, "sessions left", nil, f.tables.rows()["sessions"])
	for merchantID, want := range map[int64]map[int64]string{
		alpha: {people[0]: `Νίκος "name=" Παπάς`}, beta: {people[1]: "Theirs"},
		0: {people[0]: `Νίκος "name=" Παπάς`, people[1]: "Theirs", people[2]: "Operator"},
	} {
		testenv.Of(tokens.Labels(f.Context(), merchantID, append(people, program.ID))).Want(f, "names", want)
	}

	testenv.Of(sessions.BeginAs(f.Context(), order.Caller{}, token.Person{MerchantID: alpha, Scopes: order.ScopeOrdersRead})).Must(f)
	testenv.Of(f.tables.sql.ExecContext(f.Context(), `UPDATE sessions SET merchant_id = NULL`)).Must(f)
	for want := range 2 {
		open, _, err := sessions.Open(f.Context(), alpha, nil)
		if err != nil || len(open) != want {
			f.Errorf("open sessions %+v, %v, want %d", open, err, want)
		}
		testenv.Of(sessions.DeleteTokens(f.Context())).Want(f, "deleted", 0)
	}
}

// passkeys makes and uses passkeys of a store.
type passkeys struct {
	*fixture
	now      time.Time
	tokens   *token.Registry
	sessions *token.Sessions

	credential string // of testPasskeyEnds
}

func newPasskeys(f *fixture) *passkeys {
	p := &passkeys{fixture: f, now: noon}
	p.tokens = token.NewRegistry(f.a, func() time.Time { return p.now })
	p.sessions = token.NewSessions(f.a, p.tokens)
	return p
}

// find returns a session by its secret, and who acts in it.
func (p *passkeys) find(secret string) (order.Caller, token.Session) {
	p.Helper()
	session, grant, err := p.sessions.Find(p.Context(), secret, netip.Addr{})
	testenv.NoError(p, err)
	return order.Caller{Actor: order.ActorMerchant, MerchantID: grant.MerchantID, TokenID: grant.ID, Scopes: grant.Scopes}, session
}

// link signs somebody in with a link that a token has made.
func (p *passkeys) link(by order.Caller, name string) (order.Caller, token.Session) {
	p.Helper()
	link := testenv.Of(p.sessions.NewLoginLink(p.Context(), by, token.Person{MerchantID: alpha, Name: name, Scopes: order.ScopeOrdersRead}, order.Options[token.CreatedLink]{})).Must(p)
	return p.find(testenv.Of(p.sessions.UseLoginLink(p.Context(), order.Caller{}, link.Secret, func(token.LoginLink) error { return nil })).Must(p))
}

// use signs somebody in with a passkey whose record is to be another one.
func (p *passkeys) use(credential, record string, results ...error) (secret string, err error) {
	p.Helper()
	results = append(results, nil, nil)
	return p.sessions.UsePasskey(p.Context(), order.Caller{RequestID: "sign-in"}, []byte(credential), func(got string) (string, error) {
		testenv.Equal(p, "record", record, got)
		return got + "+", results[0]
	}, func(token.Token) error { return results[1] })
}

// maker is a token that makes links, for 200 days.
func (p *passkeys) maker() order.Caller {
	p.Helper()
	_, made, err := p.tokens.Create(p.Context(), alpha, order.MerchantScopes, 200*24*time.Hour)
	testenv.NoError(p, err)
	return order.Caller{Actor: order.ActorMerchant, MerchantID: alpha, TokenID: made.ID, Scopes: made.Scopes}
}

// testPasskeys makes passkeys in sessions of all kinds, and signs in with one.
func testPasskeys(f *fixture) {
	p, refused := newPasskeys(f), errors.New("refused")
	by := p.maker()
	nikos, session := p.link(by, "Νίκος")
	typed, typedSession := p.find(testenv.Of(p.sessions.Begin(f.Context(), by)).Must(f))
	command, commandSession := p.link(order.Command(), "Μαρία")
	eleni, elenisSession := p.find(testenv.Of(p.sessions.BeginAs(f.Context(), order.Caller{}, token.Person{MerchantID: beta, Name: "Νίκος", Scopes: order.ScopeOrdersRead})).Must(f))
	for _, made := range []struct {
		by         order.Caller
		session    token.Session
		credential string
		want       error
		lifetime   time.Duration
	}{
		{nikos, session, "1", nil, 200 * 24 * time.Hour}, // as long as the token that made the link
		{command, commandSession, "2", nil, token.PasskeyLifetime},
		{eleni, elenisSession, "3", nil, token.IdentityPasskeyLifetime},
		{nikos, session, "1", token.ErrNotPerson, 0},
		{typed, typedSession, "4", token.ErrNotPerson, 0},
	} {
		testenv.Equal(f, "make "+made.credential, made.want, p.sessions.AddPasskey(f.Context(), made.by, made.session, []byte(made.credential), "r"+made.credential))
		if own := testenv.Of(p.sessions.Passkeys(f.Context(), made.by.MerchantID, &made.session)).Must(f); made.want == nil {
			if len(own) != 1 || own[0].ExpiresAt.Sub(noon) != made.lifetime || own[0].Scopes != made.by.Scopes || own[0].Passkey != "r"+made.credential || own[0].Hint != "" {
				f.Errorf("passkeys of %s: %+v, want one for %s", made.credential, own, made.lifetime)
			}
		}
	}
	gone, cancel := context.WithCancel(f.Context())
	cancel()
	if err := p.sessions.AddPasskey(gone, nikos, session, []byte("5"), "r5"); err == nil || errors.Is(err, token.ErrNotPerson) || errors.Is(err, token.ErrTooMany) {
		f.Errorf("a failure of the store is %v", err)
	}
	secret := testenv.Of(p.use("1", "r1")).Must(f)
	again, ofPasskey := p.find(secret)
	testenv.Equal(f, "scopes", nikos.Scopes, again.Scopes)
	testenv.Equal(f, "name", "Νίκος", ofPasskey.Person())
	testenv.Equal(f, "a passkey makes one", token.ErrNotPerson, p.sessions.AddPasskey(f.Context(), again, ofPasskey, []byte("5"), "r5"))
	testenv.Of(p.use("1", "r1+", refused)).WantError(f, "an answer that is refused", refused)
	testenv.Of(p.use("1", "r1+", nil, refused)).WantError(f, "a sign-in that is refused", refused)
	testenv.Of(p.use("1", "r1+")).Must(f)
	testenv.Of(p.use("4", "")).WantError(f, "an unknown credential", token.ErrNoPasskey)
	var got []string
	merchant := alpha
	for _, e := range f.auditLog(order.AuditQuery{MerchantID: &merchant, Limit: 9}) {
		if e.By.TokenID == again.TokenID || strings.Contains(e.Detail, "by=passkey") {
			got = append(got, fmt.Sprint(e.Action, " ", e.By.TokenID, " ", e.SubjectID, " ", e.Detail))
		}
	}
	slices.Sort(got)
	detail := ` by=passkey scopes=orders:read name="Νίκος"`
	used := fmt.Sprint("session.begun ", again.TokenID, " ", again.TokenID, detail)
	testenv.Equal(f, "audit", []string{
		used, used, fmt.Sprint("token.created ", nikos.TokenID, " ", again.TokenID, detail),
		fmt.Sprint("token.created ", command.TokenID, " ", again.TokenID+1, strings.ReplaceAll(detail, "Νίκος", "Μαρία")),
	}, got)

	for n := range token.MaxPasskeys - 2 {
		testenv.NoError(f, p.sessions.AddPasskey(f.Context(), nikos, session, []byte(fmt.Sprint("many ", n)), "r"))
	}
	testenv.Equal(f, "one more", token.ErrTooMany, p.sessions.AddPasskey(f.Context(), nikos, session, []byte("5"), "r5"))
	testenv.NoError(f, p.sessions.AddPasskey(f.Context(), eleni, elenisSession, []byte("6"), "r6"))
}

// testPasskeyEnds ends passkeys in every way: what was signed in with them ends, too.
func testPasskeyEnds(f *fixture) {
	colleague := order.Caller{Actor: order.ActorMerchant, MerchantID: alpha, TokenID: 1 << 40, Scopes: order.ScopeTokens}
	remove := func(p *passkeys, by order.Caller, session token.Session, id int64) error {
		return p.sessions.RemovePasskey(f.Context(), by, session, id, order.Options[int64]{})
	}
	for name, test := range map[string]struct {
		do    func(p *passkeys, by, person order.Caller, session token.Session, passkey int64) error
		want  error
		stays bool
	}{
		"sign-out of all": {func(p *passkeys, _, person order.Caller, session token.Session, _ int64) error {
			return p.sessions.EndOther(f.Context(), person, session.ID, order.Options[string]{})
		}, nil, true},
		"removed by the person": {func(p *passkeys, _, person order.Caller, session token.Session, id int64) error {
			return remove(p, person, session, id)
		}, nil, false},
		"removed by a colleague": {func(p *passkeys, _, _ order.Caller, _ token.Session, id int64) error {
			return remove(p, colleague, token.Session{Name: "Μαρία"}, id)
		}, nil, false},
		"removed by somebody who may not": {func(p *passkeys, _, person order.Caller, _ token.Session, id int64) error {
			return remove(p, person, token.Session{Name: "Μαρία"}, id)
		}, token.ErrNoPasskey, true},
		"removed by another store": {func(p *passkeys, _, _ order.Caller, session token.Session, id int64) error {
			return remove(p, order.Caller{Actor: order.ActorMerchant, MerchantID: beta, Scopes: order.MerchantScopes}, session, id)
		}, token.ErrNoPasskey, true},
		"removed with the id of a token": {func(p *passkeys, by, _ order.Caller, session token.Session, _ int64) error {
			return remove(p, colleague, session, by.TokenID)
		}, token.ErrNoPasskey, true},
		"the session's token is revoked": {func(p *passkeys, _, person order.Caller, _ token.Session, _ int64) error {
			_, err := p.tokens.RevokeID(f.Context(), order.Command(), person.TokenID, order.Options[int64]{})
			return err
		}, nil, false},
		"the maker's family is revoked": {func(p *passkeys, by, _ order.Caller, _ token.Session, _ int64) error {
			_, err := p.tokens.RevokeFamily(f.Context(), order.Command(), by.TokenID, order.Options[[]int64]{})
			return err
		}, nil, false},
		"the store's tokens are revoked": {func(p *passkeys, _, _ order.Caller, _ token.Session, _ int64) error {
			_, err := p.tokens.RevokeAll(f.Context(), order.Command(), alpha, order.Options[[]int64]{})
			return err
		}, nil, false},
		"the maker has expired": {func(p *passkeys, _, _ order.Caller, _ token.Session, _ int64) error {
			p.now = noon.Add(200 * 24 * time.Hour)
			return nil
		}, nil, false},
		"copied": {func(p *passkeys, _, _ order.Caller, _ token.Session, _ int64) error {
			_, err := p.use(p.credential, "r+", token.ErrPasskeyCopied)
			return err
		}, token.ErrPasskeyCopied, false},
	} {
		p := newPasskeys(f)
		p.credential = name
		by := p.maker()
		person, session := p.link(by, "Νίκος "+name)
		testenv.NoError(f, p.sessions.AddPasskey(f.Context(), person, session, []byte(name), "r"))
		secret := testenv.Of(p.use(name, "r")).Must(f)
		acting, _ := p.find(secret)
		testenv.Equal(f, name, test.want, test.do(p, by, person, session, acting.TokenID))
		_, err := p.use(name, "r+")
		_, _, found := p.sessions.Find(f.Context(), secret, netip.Addr{})
		wantUse, wantFind := token.ErrNoPasskey, token.ErrNoSession
		if test.stays {
			wantUse, wantFind = nil, nil
		}
		if !errors.Is(err, wantUse) || !errors.Is(found, wantFind) {
			f.Errorf("%s: use %v, session %v", name, err, found)
		}
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
	counts, err := f.b.DayCounts(f.Context(), alpha, order.Filter{From: day - 3, To: day})
	want := []order.DayCount{{Day: day - 3, State: order.InProcessing, Orders: 1}, {Day: day - 2, State: order.Registered, Orders: 1},
		{Day: day - 1, State: order.InProcessing, Orders: 1}, {Day: day, State: order.Registered, Orders: 1}}
	if diff := cmp.Diff(want, counts); err != nil || diff != "" {
		f.Errorf("day counts, %v (-want +got):\n%s", err, diff)
	}
	// From noon to noon in the zone that is 12 hours ahead.
	ahead := time.FixedZone("ahead", 12*60*60)
	counts, err = f.b.DayCounts(f.Context(), alpha, order.Filter{From: day, To: day + 1, Zone: ahead})
	want = []order.DayCount{{Day: day, State: order.InProcessing, Orders: 1}, {Day: day + 1, State: order.Registered, Orders: 1}}
	if diff := cmp.Diff(want, counts); err != nil || diff != "" {
		f.Errorf("day counts of another zone, %v (-want +got):\n%s", err, diff)
	}
}

// testKept keeps things for people at one instance and reads them at the other.
func testKept(f *fixture) {
	ctx := f.Context()
	keep := func(merchantID int64, kind token.KeptKind, person, name, value string, at time.Time) {
		testenv.NoError(f, f.a.Keep(ctx, merchantID, kind, person, token.Kept{Name: name, Value: value, At: at}, 3, nil))
	}
	keep(alpha, token.KeptView, "Νίκος", "b", "old", noon.Add(-time.Hour))
	keep(alpha, token.KeptView, "Νίκος", "b", "1", noon.Add(time.Second))
	keep(alpha, token.KeptView, "Νίκος", "a", "2", noon)
	keep(alpha, token.KeptView, "Ελένη", "a", "3", noon.Add(2*time.Second))
	keep(alpha, token.KeptResult, "Νίκος", "a", "4", noon)
	keep(beta, token.KeptView, "Νίκος", "a", "5", noon)
	want := func(want ...token.Kept) {
		got, err := f.b.Kept(ctx, alpha, token.KeptView, "Νίκος")
		testenv.NoError(f, err)
		testenv.Equal(f, "kept", want, got)
	}
	a, b := token.Kept{Name: "a", Value: "2", At: noon}, token.Kept{Name: "b", Value: "1", At: noon.Add(time.Second)}
	want(b, a)
	keep(alpha, token.KeptView, "Ελένη", "b", "6", noon.Add(3*time.Second)) // the fourth of three: the oldest goes
	want(b)
	testenv.NoError(f, f.b.Forget(ctx, alpha, token.KeptView, "Νίκος", "b"))
	want()

	// Views that two instances keep at the same time are within the limit together.
	var both [2]*token.Sessions
	for i, instance := range []token.SessionStore{f.a, f.b} {
		both[i] = token.NewSessions(instance, token.NewRegistry(f.a, func() time.Time { return noon }))
	}
	session := token.Session{Name: "Άννα"}
	testenv.Together(2*token.MaxViews, func(n int, ready func()) {
		name := strconv.Itoa(n)
		ready()
		if err := both[n%2].KeepView(ctx, alpha, session, "", name, "?"+name); err != nil && !errors.Is(err, token.ErrTooManyViews) {
			f.Error(err)
		}
	})
	kept := testenv.Of(both[0].Kept(ctx, alpha, session, token.KeptView)).Must(f)
	testenv.Equal(f, "views", token.MaxViews, len(kept))
	testenv.NoError(f, both[0].KeepView(ctx, alpha, session, kept[0].Name, "another", "?"))
	testenv.Equal(f, "views with another name", token.MaxViews, len(testenv.Of(both[0].Kept(ctx, alpha, session, token.KeptView)).Must(f)))
}
