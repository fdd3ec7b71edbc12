package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

var tokenSubjects = []subject{
	{"tokens/a whole life", testTokenLife},
	{"tokens/the merchant's events", testGrantVersion},
	{"tokens/replaced", testTokenReplaced},
	{"tokens/unknown", testTokenUnknown},
	{"tokens/no merchant", testTokenNoMerchant},
	{"tokens/through the registry", testTokenRegistry},
}

// addToken keeps a token and returns it as it must come back.
func (f *fixture) addToken(store Store, hash token.Hash, t token.Token) token.Token {
	f.Helper()
	id, err := addToken(f.Context(), store, hash, t)
	if err != nil {
		f.Fatalf("add token: %v", err)
	}
	t.ID = id
	return t
}

func addToken(ctx context.Context, store token.Store, hash token.Hash, t token.Token) (id int64, err error) {
	err = store.ChangeTokens(ctx, func(tx token.Tx) error {
		id, err = tx.AddToken(ctx, hash, t)
		return err
	})
	return id, err
}

func replaceToken(ctx context.Context, store token.Store, old int64, expires time.Time, hash token.Hash, t token.Token) (id int64, err error) {
	err = store.ChangeTokens(ctx, func(tx token.Tx) error {
		id, err = tx.ReplaceToken(ctx, old, expires, hash, t)
		return err
	})
	return id, err
}

func revokeToken(ctx context.Context, store token.Store, id int64, at time.Time) error {
	return store.ChangeTokens(ctx, func(tx token.Tx) error { return tx.RevokeToken(ctx, id, at) })
}

func (f *fixture) expectToken(when string, hash token.Hash, want token.Token) {
	f.Helper()
	for _, store := range []Store{f.a, f.b} {
		all, err := store.Tokens(f.Context())
		if err != nil {
			f.Fatalf("%s: %v", when, err)
		}
		i := slices.IndexFunc(all, func(t token.Token) bool { return t.ID == want.ID })
		if i < 0 {
			f.Fatalf("%s: token %d is missing in %+v", when, want.ID, all)
		}
		if diff := cmp.Diff(want, all[i]); diff != "" {
			f.Errorf("%s (-want +got):\n%s", when, diff)
		}
		granted, err := store.Grant(f.Context(), hash)
		if err != nil {
			f.Fatalf("%s: %v", when, err)
		}
		// What a request needs to know of it.
		brief := token.Token{
			ID: want.ID, MerchantID: want.MerchantID, Scopes: want.Scopes, ExpiresAt: want.ExpiresAt, RevokedAt: want.RevokedAt,
		}
		if diff := cmp.Diff(token.Grant{Token: brief}, granted); diff != "" {
			f.Errorf("%s, granted (-want +got):\n%s", when, diff)
		}
	}
}

// testGrantVersion checks that a grant has the data version after each change of
// any instance, also for concurrent calls, and that each version has a mark of
// its own.
func testGrantVersion(f *fixture) {
	hash := token.Hash{7}
	f.addToken(f.a, hash, token.Token{MerchantID: alpha, Scopes: token.DefaultScopes, CreatedAt: noon})
	for _, o := range []order.Order{minimal(alpha, "R"), minimal(alpha, "S"), minimal(beta, "T")} {
		f.create(o)
	}
	seen, marks := int64(2), make(map[int64]bool)
	for i, to := range []order.State{order.InProcessing, order.ReadyForShipment, order.PickedByCourier} {
		if err := transitionTo(f.Context(), []Store{f.a, f.b}[i%2], alpha, 1, to, noon); err != nil {
			f.Fatal(err)
		}
		seen++
		versions, err := f.b.DataVersions(f.Context(), []int64{alpha})
		want := versions[alpha]
		if err != nil || want.Event != seen || want.Mark == 0 || marks[want.Mark] {
			f.Errorf("after event %d: data version %v, error %v", seen, want, err)
		}
		marks[want.Mark] = true
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				granted, err := []Store{f.a, f.b}[n%2].Grant(f.Context(), hash)
				if err != nil || granted.DataVersion != want {
					f.Errorf("granted with data version %v, error %v, want %v", granted.DataVersion, err, want)
				}
			})
		}
		group.Wait()
	}
}

func testTokenLife(f *fixture) {
	full, plain, operator := token.Hash{1, 0, 0xff}, token.Hash{2}, token.Hash{3}
	first := f.addToken(f.a, full, token.Token{
		MerchantID: alpha, Scopes: token.DefaultScopes, Hint: "mo_aB3d", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
	})
	second := f.addToken(f.b, plain, token.Token{MerchantID: beta, Scopes: token.OrdersRead, Hint: "mo_0000", CreatedAt: noon})
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
		if err := revokeToken(f.Context(), []token.Store{f.a, f.b}[i], first.ID, at); err != nil {
			f.Errorf("revoke: %v", err)
		}
	}
	f.expectToken("revoked twice", full, first)
	for _, store := range []Store{f.a, f.b} {
		revoked, err := store.RevokedTokens(f.Context(), []int64{first.ID, second.ID, third.ID + 1})
		if err != nil || !slices.Equal(revoked, []int64{first.ID}) {
			f.Errorf("revoked are %v, error %v, want %d", revoked, err, first.ID)
		}
	}

	first.LastUsedAt, third.LastUsedAt = noon.Add(2*time.Minute), noon.Add(3*time.Minute)
	// One of no token is none's business.
	uses := map[int64]time.Time{first.ID: first.LastUsedAt, third.ID: third.LastUsedAt, 999: noon}
	if err := f.b.RecordTokenUse(f.Context(), uses); err != nil {
		f.Errorf("touch: %v", err)
	}
	if err := f.b.RecordTokenUse(f.Context(), nil); err != nil {
		f.Errorf("touch none: %v", err)
	}
	f.expectToken("used", full, first)
	f.expectToken("unused", plain, second)
	all, err := f.a.Tokens(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	if diff := cmp.Diff([]token.Token{first, second, third}, all); diff != "" {
		f.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func testTokenReplaced(f *fixture) {
	first, second, third := token.Hash{1}, token.Hash{2}, token.Hash{3}
	old := f.addToken(f.a, first, token.Token{MerchantID: alpha, Scopes: token.OrdersRead, Hint: "mo_1111", CreatedAt: noon})
	replace := func(store Store, replaced *token.Token, expires time.Time, hash token.Hash, t token.Token) token.Token {
		var err error
		if t.ID, err = replaceToken(f.Context(), store, replaced.ID, expires, hash, t); err != nil {
			f.Fatalf("replace token %d: %v", replaced.ID, err)
		}
		return t
	}
	renewed := replace(f.b, &old, noon.Add(time.Hour), second,
		token.Token{MerchantID: alpha, Scopes: token.OrdersRead, Hint: "mo_2222", CreatedAt: noon, ExpiresAt: noon.Add(2 * time.Hour)})
	old.ExpiresAt = noon.Add(time.Hour)
	f.expectToken("replaced", first, old)
	f.expectToken("in its place", second, renewed)
	// It expires earlier than requested.
	last := replace(f.a, &renewed, noon.Add(3*time.Hour), third, token.Token{MerchantID: alpha, Hint: "mo_3333", CreatedAt: noon})
	f.expectToken("expires earlier", second, renewed)

	if err := revokeToken(f.Context(), f.a, last.ID, noon); err != nil {
		f.Fatal(err)
	}
	before := f.tables.rows()
	for _, id := range []int64{last.ID, 999} {
		if added, err := replaceToken(f.Context(), f.b, id, noon, token.Hash{4}, token.Token{CreatedAt: noon}); !errors.Is(err, token.ErrUnknown) {
			f.Errorf("replace token %d by %d: %v, want %v", id, added, err, token.ErrUnknown)
		}
	}
	if diff := cmp.Diff(before, f.tables.rows()); diff != "" {
		f.Errorf("the tables changed (-before +after):\n%s", diff)
	}
}

func testTokenUnknown(f *fixture) {
	f.addToken(f.a, token.Hash{1}, token.Token{MerchantID: alpha, Scopes: token.DefaultScopes, CreatedAt: noon})
	if got, err := f.a.Grant(f.Context(), token.Hash{1, 1}); !errors.Is(err, token.ErrUnknown) {
		f.Errorf("unknown token grants %+v, error %v", got, err)
	}
	if err := revokeToken(f.Context(), f.a, 999, noon); !errors.Is(err, token.ErrUnknown) {
		f.Errorf("revoke: %v, want %v", err, token.ErrUnknown)
	}
	before := f.tables.rows()
	if id, err := addToken(f.Context(), f.b, token.Hash{1}, token.Token{MerchantID: beta, CreatedAt: noon}); err == nil {
		f.Errorf("the same token was stored a second time, as %d", id)
	}
	if diff := cmp.Diff(before, f.tables.rows()); diff != "" {
		f.Errorf("the tables changed (-before +after):\n%s", diff)
	}
}

func testTokenNoMerchant(f *fixture) {
	before := f.tables.rows()
	id, err := addToken(f.Context(), f.a, token.Hash{1}, token.Token{MerchantID: 404, Scopes: token.DefaultScopes, CreatedAt: noon})
	if !errors.Is(err, order.ErrMerchantNotFound) {
		f.Errorf("token %d, error %v, want %v", id, err, order.ErrMerchantNotFound)
	}
	if diff := cmp.Diff(before, f.tables.rows()); diff != "" {
		f.Errorf("the tables changed (-before +after):\n%s", diff)
	}
}

// testTokenRegistry revokes through one handle what the other has just taken
// for good.
func testTokenRegistry(f *fixture) {
	now := func() time.Time { return noon }
	server, command := token.NewRegistry(f.a, now), token.NewRegistry(f.b, now)
	text, made, err := command.Create(f.Context(), alpha, token.OrdersRead, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	got, err := server.Authenticate(f.Context(), text)
	if err != nil {
		f.Fatalf("verify: %v", err)
	}
	made.Hint, made.CreatedAt = "", time.Time{} // of no interest to a request
	if diff := cmp.Diff(made, got.Token); diff != "" {
		f.Errorf("token (-made +verified):\n%s", diff)
	}
	if _, err := command.Revoke(f.Context(), text); err != nil {
		f.Fatalf("revoke: %v", err)
	}
	if _, err := server.Authenticate(f.Context(), text); !errors.Is(err, token.ErrUnknown) {
		f.Errorf("verify what was revoked: %v, want %v", err, token.ErrUnknown)
	}
}
