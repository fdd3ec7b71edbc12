package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

var tokenSubjects = []subject{
	{"tokens/a whole life", testTokenLife},
	{"tokens/the merchant's events", testGrantVersion},
	{"tokens/replaced", testTokenReplaced},
	{"tokens/a family", testTokenFamily},
	{"tokens/filters", testTokenFilters},
	{"tokens/counts", testTokenCounts},
	{"tokens/unknown", testTokenUnknown},
	{"tokens/no merchant", testTokenNoMerchant},
}

// addToken keeps a token and returns it as it must come back.
func (f *fixture) addToken(store Store, hash token.Hash, t token.Token) token.Token {
	f.Helper()
	id := testenv.Of(addToken(f.Context(), store, hash, t)).Must(f)
	t.ID = id
	return t
}

func addToken(ctx context.Context, store token.Store, hash token.Hash, t token.Token) (id int64, err error) {
	err = store.ChangeTokens(ctx, func(tx token.Tx) error {
		id, err = tx.AddToken(ctx, hash, t, tokenEntry)
		return err
	})
	return id, err
}

// tokenEntry is the audit entry of the changes of tokens.
var tokenEntry = order.AuditEntry{At: noon, Action: token.ActionCreated, By: requester(order.ActorOperator)}

// operator is the requester of changes of tokens, who may make them.
var operator = func() order.Caller {
	caller := requester(order.ActorOperator)
	caller.Scopes = order.OperatorScopes
	return caller
}()

// realOperator is operator with a token that is stored, which tokens can be made with.
func (f *fixture) realOperator() order.Caller {
	caller := operator
	caller.TokenID = f.addToken(f.a, token.Hash{99}, token.Token{Scopes: order.OperatorScopes, CreatedAt: noon}).ID
	return caller
}

// registry returns a registry at a time.
func registry(store token.Store, at time.Time) *token.Registry {
	return token.NewRegistry(store, func() time.Time { return at })
}

func revokeToken(ctx context.Context, store token.Store, id int64, at time.Time) error {
	_, err := registry(store, at).RevokeID(ctx, order.Command(), id, order.Options[int64]{})
	return err
}

func (f *fixture) expectToken(when string, hash token.Hash, want token.Token) {
	f.Helper()
	for _, store := range []Store{f.a, f.b} {
		all, err := store.Tokens(f.Context(), token.Filter{}, noon)
		if err != nil {
			f.Fatalf("%s: %v", when, err)
		}
		i := slices.IndexFunc(all, func(t token.Token) bool { return t.ID == want.ID })
		if i < 0 {
			f.Fatalf("%s: token %d is missing in %+v", when, want.ID, all)
		}
		testenv.Equal(f, when, want, all[i])
		granted, err := store.Grant(f.Context(), hash)
		if err != nil {
			f.Fatalf("%s: %v", when, err)
		}
		// What a request needs to know of it.
		brief := token.Token{
			ID: want.ID, MerchantID: want.MerchantID, Scopes: want.Scopes, ExpiresAt: want.ExpiresAt, RevokedAt: want.RevokedAt,
		}
		testenv.Equal(f, fmt.Sprintf("%s, granted", when), token.Grant{Token: brief}, granted)
	}
}

// testGrantVersion checks that a grant has the data version after each change of
// any instance, also for concurrent calls, and that each version has a nonce of
// its own.
func testGrantVersion(f *fixture) {
	hash := token.Hash{7}
	f.addToken(f.a, hash, token.Token{MerchantID: alpha, Scopes: order.DefaultScopes, CreatedAt: noon})
	for _, o := range []order.Order{minimal(alpha, "R"), minimal(alpha, "S"), minimal(beta, "T")} {
		f.create(o)
	}
	seen, nonces := int64(2), make(map[int64]bool)
	for i, to := range []order.State{order.InProcessing, order.ReadyForShipment, order.PickedByCourier} {
		testenv.NoError(f, transitionTo(f.Context(), []Store{f.a, f.b}[i%2], alpha, 1, to, noon))
		seen++
		versions, err := f.b.DataVersions(f.Context(), []int64{alpha})
		want := versions[alpha]
		if err != nil || want.Event != seen || want.Nonce == 0 || nonces[want.Nonce] {
			f.Errorf("after event %d: data version %v, error %v", seen, want, err)
		}
		nonces[want.Nonce] = true
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				testenv.Equal(f, "data version granted", want, testenv.Of([]Store{f.a, f.b}[n%2].Grant(f.Context(), hash)).Must(f).DataVersion)
			})
		}
		group.Wait()
	}
}

func testTokenLife(f *fixture) {
	full, plain, operator := token.Hash{1, 0, 0xff}, token.Hash{2}, token.Hash{3}
	first := f.addToken(f.a, full, token.Token{
		MerchantID: alpha, Scopes: order.DefaultScopes, Hint: "mo_aB3d", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
	})
	second := f.addToken(f.b, plain, token.Token{MerchantID: beta, Scopes: order.ScopeOrdersRead, Hint: "mo_0000", CreatedAt: noon})
	third := f.addToken(f.a, operator, token.Token{Hint: "mop_zzzz", CreatedAt: noon})
	if first.ID <= 0 || second.ID <= first.ID || third.ID <= second.ID {
		f.Errorf("tokens have the ids %d, %d, %d", first.ID, second.ID, third.ID)
	}
	f.expectToken("merchant's", full, first)
	f.expectToken("without expiry", plain, second)
	f.expectToken("operator's", operator, third)
	if got, err := f.b.Grant(f.Context(), operator); err != nil || !got.Operator() {
		f.Errorf("an operator's token came back as %+v, error %v", got, err)
	}

	first.RevokedAt = noon.Add(time.Minute)
	for i, at := range []time.Time{first.RevokedAt, first.RevokedAt.Add(time.Hour)} {
		testenv.NoError(f, revokeToken(f.Context(), []token.Store{f.a, f.b}[i], first.ID, at))
	}
	f.expectToken("revoked twice", full, first)
	for _, store := range []Store{f.a, f.b} {
		revoked, err := store.RevokedTokens(f.Context(), []int64{first.ID, second.ID, third.ID + 1})
		if err != nil || !slices.Equal(revoked, []int64{first.ID}) {
			f.Errorf("revoked are %v, error %v, want %d", revoked, err, first.ID)
		}
	}

	first.LastUsedAt, third.LastUsedAt = noon.Add(2*time.Minute), noon.Add(3*time.Minute)
	// A use of an unknown token is ignored.
	first.LastUsedFrom = "2001:db8::7"
	uses := map[int64]token.Use{
		first.ID: {At: first.LastUsedAt, From: netip.MustParseAddr(first.LastUsedFrom)}, third.ID: {At: third.LastUsedAt}, 999: {At: noon},
	}
	testenv.NoError(f, f.b.RecordTokenUse(f.Context(), uses))
	testenv.NoError(f, f.b.RecordTokenUse(f.Context(), nil))
	f.expectToken("used", full, first)
	f.expectToken("unused", plain, second)
	testenv.Of(f.a.Tokens(f.Context(), token.Filter{}, noon)).Want(f, "tokens", []token.Token{first, second, third})
}

func testTokenReplaced(f *fixture) {
	hash := token.Hash{1}
	old := f.addToken(f.a, hash, token.Token{
		MerchantID: alpha, Scopes: order.ScopeOrdersRead, Hint: "mo_1111", Label: "Ταμείο", CreatedAt: noon, CreatedBy: 1 << 40,
	})
	operator := f.realOperator()
	rotate := func(store Store, id int64, overlap time.Duration) token.Created {
		created, err := registry(store, noon).Rotate(f.Context(), operator, token.Rotation{ID: id, Overlap: overlap, Expiry: token.Expiry{After: 2 * time.Hour}}, order.Options[token.Created]{})
		if err != nil {
			f.Fatalf("replace token %d: %v", id, err)
		}
		return created
	}
	renewed := rotate(f.b, old.ID, time.Hour)
	old.ExpiresAt = noon.Add(time.Hour)
	f.expectToken("replaced", hash, old)
	want := old
	want.ID, want.Hint, want.CreatedBy, want.ExpiresAt = renewed.Token.ID, renewed.Token.Hint, operator.TokenID, noon.Add(2*time.Hour)
	newHash := testenv.Of(token.HashText(renewed.Text)).Must(f)
	f.expectToken("in its place", newHash, want)
	testenv.NoError(f, revokeToken(f.Context(), f.a, renewed.Token.ID, noon))
	before := f.tables.rows()
	for _, id := range []int64{renewed.Token.ID, 999} {
		testenv.Of(registry(f.b, noon).Rotate(f.Context(), order.Command(), token.Rotation{ID: id}, order.Options[token.Created]{})).WantError(f, fmt.Sprintf("replace token %d by", id), token.ErrUnknown)
	}
	testenv.Equal(f, "tables", before, f.tables.rows())
}

// testTokenFamily revokes a token with what it made, while its child makes others.
func testTokenFamily(f *fixture) {
	at := func(store Store) *token.Registry { return registry(store, noon) }
	make := func(store Store, parent int64) (int64, error) {
		by := order.Caller{Actor: order.ActorMerchant, MerchantID: alpha, TokenID: parent, Scopes: order.MerchantScopes}
		request := token.Request{MerchantID: alpha, Scopes: order.ScopeOrdersRead | order.ScopeTokens}
		created, err := at(store).Add(f.Context(), by, request, order.Options[token.Created]{})
		return created.Token.ID, err
	}
	_, root, err := at(f.a).Create(f.Context(), alpha, order.MerchantScopes, time.Hour)
	testenv.NoError(f, err)
	child := testenv.Of(make(f.a, root.ID)).Must(f)
	_, other, err := at(f.a).Create(f.Context(), alpha, order.MerchantScopes, time.Hour)
	testenv.NoError(f, err)
	var all sync.WaitGroup
	for n := range 4 {
		store := []Store{f.a, f.b}[n%2]
		all.Go(func() {
			for range 5 {
				if _, err := make(store, child); err != nil && !errors.Is(err, token.ErrUnknown) {
					f.Errorf("make: %v", err)
				}
			}
		})
	}
	testenv.Of(at(f.b).RevokeFamily(f.Context(), order.Command(), root.ID, order.Options[[]int64]{})).Must(f)
	all.Wait()
	left, err := f.a.Tokens(f.Context(), token.Filter{MerchantID: alpha, Validity: token.Active}, noon)
	if err != nil || len(left) != 1 || left[0].ID != other.ID {
		f.Errorf("left are %+v, %v", left, err)
	}
}

// testTokenFilters reads lists of tokens with each filter, page by page.
func testTokenFilters(f *fixture) {
	past, later := noon.Add(-time.Minute), noon.Add(time.Minute)
	ids := make(map[string]int64)
	for i, t := range []token.Token{
		{MerchantID: alpha, Scopes: order.DefaultScopes, Label: "Shop 1", CreatedAt: past},
		{MerchantID: alpha, Scopes: order.ScopeOrdersRead, Label: "Shop 10", CreatedAt: past, ExpiresAt: later},
		{MerchantID: alpha, Scopes: order.ScopeOrdersRead, Label: "shop", CreatedAt: past, ExpiresAt: noon},
		{MerchantID: beta, Scopes: order.ScopeTokens, CreatedAt: past},
		{Scopes: order.ScopeTokens | order.ScopeAudit, Label: "Shop", CreatedAt: past},
		{MerchantID: beta, Scopes: order.ScopeTokens, CreatedAt: past, ExpiresAt: past},
	} {
		ids[string(rune('a'+i))] = f.addToken(f.a, token.Hash{byte(i)}, t).ID
	}
	for _, name := range []string{"d", "f"} {
		testenv.NoError(f, revokeToken(f.Context(), f.b, ids[name], noon))
	}
	for _, test := range []struct {
		filter token.Filter
		want   string
	}{
		{token.Filter{}, "abcdef"},
		{token.Filter{MerchantID: alpha}, "abc"},
		{token.Filter{Operator: true}, "e"},
		{token.Filter{Validity: token.Active}, "abe"},
		{token.Filter{Validity: token.Expired}, "c"},
		{token.Filter{Validity: token.Revoked}, "df"},
		{token.Filter{Label: "Shop"}, "abe"},
		{token.Filter{Label: "Shop 1", MerchantID: alpha, Validity: token.Active, Scopes: order.ScopeOrdersRead}, "ab"},
		{token.Filter{Scopes: order.ScopeTokens}, "def"},
		{token.Filter{Scopes: order.ScopeOrdersRead | order.ScopeOrdersWrite}, "a"},
		{token.Filter{Label: "_"}, ""},
	} {
		for limit := range 3 {
			testenv.Equal(f, fmt.Sprintf("%+v by pages of %d", test.filter, limit), test.want, f.tokenNames(test.filter, limit, ids))
		}
	}
	f.revokeAll(ids)
	f.checkTokenAudit(ids)
}

// tokenNames lists the tokens of a filter, page by page, and returns their names. ids are
// the tokens by name. A limit of 0 means one page.
func (f *fixture) tokenNames(filter token.Filter, limit int, ids map[string]int64) string {
	got := ""
	filter.Limit = limit
	for {
		page := testenv.Of(f.b.Tokens(f.Context(), filter, noon)).Must(f)
		for _, t := range page {
			for name, id := range ids {
				if id == t.ID {
					got += name
				}
			}
			filter.After = t.ID
		}
		if limit == 0 || len(page) < limit {
			return got
		}
	}
}

// revokeAll revokes the tokens a, b and c, which are all of one merchant.
func (f *fixture) revokeAll(ids map[string]int64) {
	revoked, err := registry(f.a, noon).RevokeAll(f.Context(), operator, alpha, order.Options[[]int64]{})
	if want := []int64{ids["a"], ids["b"], ids["c"]}; err != nil || !slices.Equal(revoked, want) {
		f.Errorf("revoked %v, error %v, want %v", revoked, err, want)
	}
	testenv.Equal(f, "revoked again", 0, len(testenv.Of(registry(f.b, noon).RevokeAll(f.Context(), order.Command(), alpha, order.Options[[]int64]{})).Must(f)))
	testenv.Of(registry(f.b, noon).RevokeAll(f.Context(), order.Command(), 404, order.Options[[]int64]{})).WantError(f, "of no merchant", order.ErrMerchantNotFound)
}

// checkTokenAudit checks that each change of the tokens is in the audit log.
func (f *fixture) checkTokenAudit(ids map[string]int64) {
	entries := make(map[string]int)
	f.tables.each(`SELECT merchant_id, action, subject_id FROM audit WHERE action LIKE 'token.%'`, func(rows *sql.Rows) error {
		var merchant, subject int64
		var action string
		err := rows.Scan(&merchant, &action, &subject)
		entries[fmt.Sprint(merchant, " ", action)]++
		if subject < ids["a"] || subject > ids["f"] {
			f.Errorf("%s of token %d", action, subject)
		}
		return err
	})
	want := map[string]int{
		"355 token.created": 3, "356 token.created": 2, "0 token.created": 1, "355 token.revoked": 3, "356 token.revoked": 2,
	}
	testenv.Equal(f, "audit entries", want, entries)
}

// testTokenCounts counts tokens for their limits.
func testTokenCounts(f *fixture) {
	for i, t := range []token.Token{
		{MerchantID: alpha, CreatedAt: noon, Hint: "mo_1", CreatedBy: 5},
		{MerchantID: alpha, CreatedAt: noon.Add(-time.Hour), ExpiresAt: noon.Add(time.Second), Hint: "mo_2", CreatedBy: 1},
		{MerchantID: alpha, CreatedAt: noon.Add(-time.Hour), ExpiresAt: noon, Hint: "mo_3", CreatedBy: 1},
		{MerchantID: beta, CreatedAt: noon, Hint: "mo_4", CreatedBy: 5},
		{CreatedAt: noon, Hint: "mop_5"},
		{MerchantID: alpha, CreatedAt: noon, Hint: "mo_6"}, // of a command
		// Of sessions:
		{MerchantID: alpha, CreatedAt: noon},
		{MerchantID: alpha, CreatedAt: noon, CreatedBy: 1},
		{MerchantID: alpha, CreatedAt: noon.Add(-time.Second), CreatedBy: 1},
		{MerchantID: alpha, CreatedAt: noon, CreatedBy: 2},
		{MerchantID: alpha, CreatedAt: noon.Add(-time.Hour), CreatedBy: 1},
		{MerchantID: beta, CreatedAt: noon, CreatedBy: 4},
	} {
		f.addToken(f.a, token.Hash{byte(i)}, t)
	}
	testenv.NoError(f, f.b.ChangeTokens(f.Context(), func(tx token.Tx) error {
		got, err := tx.CountTokens(f.Context(), alpha, noon, noon.Add(-time.Hour))
		testenv.Equal(f, "tokens", token.Counts{Valid: 2, Created: 1, Links: 3}, got)
		return err
	}))
}

func testTokenUnknown(f *fixture) {
	f.addToken(f.a, token.Hash{1}, token.Token{MerchantID: alpha, Scopes: order.DefaultScopes, CreatedAt: noon})
	testenv.Of(f.a.Grant(f.Context(), token.Hash{1, 1})).WantError(f, "unknown token grants", token.ErrUnknown)
	testenv.Equal(f, "revoke", token.ErrUnknown, revokeToken(f.Context(), f.a, 999, noon))
	before := f.tables.rows()
	if id, err := addToken(f.Context(), f.b, token.Hash{1}, token.Token{MerchantID: beta, CreatedAt: noon}); err == nil {
		f.Errorf("the same token was stored a second time, as %d", id)
	}
	testenv.Equal(f, "tables", before, f.tables.rows())
}

func testTokenNoMerchant(f *fixture) {
	before := f.tables.rows()
	id, err := addToken(f.Context(), f.a, token.Hash{1}, token.Token{MerchantID: 404, Scopes: order.DefaultScopes, CreatedAt: noon})
	testenv.Equal(f, fmt.Sprintf("token %d", id), order.ErrMerchantNotFound, err)
	testenv.Equal(f, "tables", before, f.tables.rows())
}
