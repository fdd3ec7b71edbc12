package token_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestMaxLifetime creates and rotates tokens with every lifetime around the maximum.
// Proves decision 1 (maximum lifetime).
func TestMaxLifetime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lifetime, want time.Duration // 0: none; want -1: refused
	}{
		{0, time.Hour}, {time.Second, time.Second}, {time.Hour, time.Hour}, {time.Hour + 1, -1}, {1 << 62, -1},
	} {
		registry, db, _ := newRegistry(t)
		_, old, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0) // before there was a maximum
		testenv.NoError(t, err)
		registry.MaxLifetime = time.Hour
		created, err := registry.Add(t.Context(), order.Command(), token.Request{MerchantID: 355, Scopes: order.ScopeOrdersRead, Expiry: token.Expiry{After: test.lifetime}}, order.Options[token.Created]{})
		rotated, rotateErr := registry.Rotate(t.Context(), order.Command(), token.Rotation{ID: old.ID, Expiry: token.Expiry{After: test.lifetime}}, order.Options[token.Created]{})
		var tooLong *token.LifetimeError
		if test.want < 0 {
			if !errors.As(err, &tooLong) || tooLong.Max != time.Hour || !errors.As(rotateErr, &tooLong) || len(db.tokens(t)) != 1 || !db.tokens(t)[1].ExpiresAt.IsZero() {
				t.Errorf("%s: errors %v, %v, tokens %+v", test.lifetime, err, rotateErr, db.tokens(t))
			}
			continue
		}
		for _, c := range []token.Created{created, rotated} {
			if got := c.Token.ExpiresAt.Sub(c.Token.CreatedAt); got != test.want || err != nil || rotateErr != nil {
				t.Errorf("%s: lifetime %s, errors %v, %v", test.lifetime, got, err, rotateErr)
			}
		}
		// The lifetime of an old token is cut.
		registry.MaxLifetime = time.Minute
		again, err := registry.Rotate(t.Context(), order.Command(), token.Rotation{ID: created.Token.ID}, order.Options[token.Created]{})
		if got := again.Token.ExpiresAt.Sub(again.Token.CreatedAt); err != nil || got != min(test.want, time.Minute) {
			t.Errorf("%s, rotated: lifetime %s, error %v", test.lifetime, got, err)
		}
	}
}

// TestMaxLifetimeOfSessions signs people in: the tokens of their sessions last as long as a
// session, or as long as any token may.
func TestMaxLifetimeOfSessions(t *testing.T) {
	t.Parallel()
	for maximum, want := range map[time.Duration][2]time.Duration{
		0:                    {token.SessionLifetime, token.IdentityLifetime},
		365 * 24 * time.Hour: {token.SessionLifetime, token.IdentityLifetime},
		24 * time.Hour:       {24 * time.Hour, token.IdentityLifetime},
		time.Hour:            {time.Hour, time.Hour},
	} {
		registry, db, _ := newRegistry(t)
		registry.MaxLifetime = maximum
		sessions := token.NewSessions(db, registry)
		person := token.Person{MerchantID: 355, Scopes: order.ScopeOrdersRead}
		link := testenv.Of(sessions.NewLoginLink(t.Context(), order.Command(), person, order.Options[token.CreatedLink]{})).Must(t)
		testenv.Of(sessions.UseLoginLink(t.Context(), order.Caller{}, link.Secret, func(token.LoginLink) error { return nil })).Must(t)
		testenv.Of(sessions.BeginAs(t.Context(), order.Caller{}, person)).Must(t)
		tokens := db.tokens(t)
		for i, want := range want {
			made := tokens[int64(i+1)]
			testenv.Equal(t, fmt.Sprintf("with the maximum %s: token %d lasts", maximum, made.ID), want, made.ExpiresAt.Sub(made.CreatedAt))
		}
	}
}

// TestActingToken changes tokens with tokens of all kinds: none can grant what it does
// not have, and a merchant's token reaches no other merchant's.
// Proves decision 1 (a merchant's own tokens).
func TestActingToken(t *testing.T) {
	t.Parallel()
	const few, many = order.ScopeTokens | order.ScopeOrdersRead, order.MerchantScopes
	callers := map[string]order.Caller{
		"nobody":            {},
		"command":           order.Command(),
		"merchant":          {Actor: order.ActorMerchant, TokenID: 1, MerchantID: 355, Scopes: few},
		"another merchant":  {Actor: order.ActorMerchant, TokenID: 1, MerchantID: 356, Scopes: many},
		"operator":          {Actor: order.ActorOperator, TokenID: 1, Scopes: order.ScopeTokens | order.ScopeOrdersRead},
		"powerful operator": {Actor: order.ActorOperator, TokenID: 1, Scopes: order.OperatorScopes},
	}
	for _, test := range []struct {
		by      string
		of      token.Token
		rotated error // the error of a rotation
		revoked error
	}{
		{"nobody", token.Token{MerchantID: 355, Scopes: few}, token.ErrUnknown, token.ErrUnknown},
		{"nobody", token.Token{Scopes: order.ScopeOrdersRead}, token.ErrUnknown, token.ErrUnknown},
		{"command", token.Token{MerchantID: 355, Scopes: many}, nil, nil},
		{"command", token.Token{Scopes: order.OperatorScopes}, nil, nil},
		{"merchant", token.Token{MerchantID: 355, Scopes: few}, nil, nil},
		{"merchant", token.Token{MerchantID: 355, Scopes: many}, token.ErrScopes, nil},
		{"merchant", token.Token{MerchantID: 356, Scopes: few}, token.ErrUnknown, token.ErrUnknown},
		{"merchant", token.Token{Scopes: order.ScopeOrdersRead}, token.ErrUnknown, token.ErrUnknown},
		{"another merchant", token.Token{MerchantID: 355, Scopes: few}, token.ErrUnknown, token.ErrUnknown},
		{"operator", token.Token{MerchantID: 355, Scopes: many}, nil, nil},
		{"operator", token.Token{Scopes: order.ScopeOrdersRead}, nil, nil},
		{"operator", token.Token{Scopes: order.ScopeAudit}, token.ErrScopes, nil},
		{"powerful operator", token.Token{Scopes: order.OperatorScopes}, nil, nil},
	} {
		registry, db, _ := newRegistry(t)
		_, _, err := registry.Create(t.Context(), 355, many, 0) // token 1, of the callers
		testenv.NoError(t, err)
		options := order.Options[token.Created]{}
		caller := callers[test.by]
		request := token.Request{MerchantID: test.of.MerchantID, Operator: test.of.Operator(), Scopes: test.of.Scopes, Label: "label"}
		old := testenv.Of(registry.Add(t.Context(), order.Command(), request, options)).Must(t)
		if !errors.Is(test.rotated, token.ErrUnknown) { // a request names no other merchant
			testenv.Of(registry.Add(t.Context(), caller, request, options)).WantError(t, fmt.Sprintf("%s adds %+v", test.by, test.of), test.rotated)
		}
		rotated, err := registry.Rotate(t.Context(), caller, token.Rotation{ID: old.Token.ID, Overlap: time.Hour}, options)
		if !errors.Is(err, test.rotated) || err == nil && (rotated.Token.Label != "label" || rotated.Token.CreatedBy != caller.TokenID) {
			t.Errorf("%s rotates %+v: %+v, %v, want %v", test.by, test.of, rotated, err, test.rotated)
		}
		if test.rotated != nil && !db.tokens(t)[old.Token.ID].ExpiresAt.IsZero() {
			t.Errorf("%s rotates %+v: the old token changed", test.by, test.of)
		}
		testenv.Of(registry.RevokeID(t.Context(), caller, old.Token.ID, order.Options[int64]{})).WantError(t, fmt.Sprintf("%s revokes %+v", test.by, test.of), test.revoked)
		log := testenv.Of(db.AuditLog(t.Context(), order.AuditQuery{Action: token.ActionRevoked, Limit: 10})).Must(t)
		if test.revoked == nil && (len(log.Entries) != 1 || log.Entries[0].By.Actor != caller.Actor || log.Entries[0].By.TokenID != caller.TokenID || log.Entries[0].MerchantID != test.of.MerchantID) {
			t.Errorf("%s: audit %+v", test.by, log.Entries)
		}
	}
}

// TestChildrenDoNotOutlive makes and rotates tokens with a token that ends: none ends later.
func TestChildrenDoNotOutlive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parent, wanted, want time.Duration // 0: none; want -1: refused
	}{
		{0, 0, 0}, {0, time.Hour, time.Hour}, {time.Hour, 0, time.Hour}, {time.Hour, time.Minute, time.Minute},
		{time.Hour, time.Hour, time.Hour}, {time.Hour, time.Hour + time.Second, -1},
	} {
		registry, db, clock := newRegistry(t)
		_, parent, err := registry.Create(t.Context(), 355, order.MerchantScopes, test.parent)
		testenv.NoError(t, err)
		_, other, err := registry.Create(t.Context(), 355, order.ScopeOrdersRead, 0)
		testenv.NoError(t, err)
		caller := order.Caller{Actor: order.ActorMerchant, MerchantID: 355, TokenID: parent.ID, Scopes: parent.Scopes}
		made := func() (all []token.Token, errs []error) {
			created, err := registry.Add(t.Context(), caller, token.Request{MerchantID: 355, Scopes: order.ScopeOrdersRead, Expiry: token.Expiry{After: test.wanted}}, order.Options[token.Created]{})
			all, errs = append(all, created.Token), append(errs, err)
			for _, id := range []int64{other.ID, parent.ID} {
				created, err := registry.Rotate(t.Context(), caller, token.Rotation{ID: id, Overlap: time.Minute, Expiry: token.Expiry{After: test.wanted}}, order.Options[token.Created]{})
				all, errs = append(all, created.Token), append(errs, err)
			}
			return all, errs
		}
		// Again with the parent that ends earlier, because it was rotated: the response may
		// have been lost.
		for range 2 {
			all, errs := made()
			for i, child := range all {
				var tooLong *token.LifetimeError
				switch {
				case test.want < 0:
					if !errors.As(errs[i], &tooLong) || tooLong.Max != test.parent || tooLong.TokenID != parent.ID || tooLong.Ends != parent.ExpiresAt {
						t.Errorf("%+v, %d: %v", test, i, errs[i])
					}
				case errs[i] != nil:
					t.Errorf("%+v, %d: %v", test, i, errs[i])
				case test.want == 0 && !child.ExpiresAt.IsZero(), test.want > 0 && child.ExpiresAt.Sub(child.CreatedAt) != test.want:
					t.Errorf("%+v, %d: ends %s", test, i, child.ExpiresAt)
				}
			}
			if test.want < 0 {
				break
			}
			other = all[0]
		}
		if test.want < 0 {
			continue
		}
		clock.move(2 * time.Minute) // after the overlap
		before := len(db.tokens(t))
		if _, errs := made(); !errors.Is(errs[0], token.ErrUnknown) || len(db.tokens(t)) != before {
			t.Errorf("%+v: a token that has ended makes another one: %v", test, errs)
		}
	}
}

// TestRevokeFamily revokes a token with what it made.
func TestRevokeFamily(t *testing.T) {
	t.Parallel()
	registry, db, _ := newRegistry(t)
	by := func(id int64) order.Caller {
		return order.Caller{Actor: order.ActorMerchant, MerchantID: 355, TokenID: id, Scopes: order.MerchantScopes}
	}
	for _, parent := range []int64{0, 1, 2, 0, 2, 4} { // of the tokens 1 to 6
		caller := by(parent)
		if parent == 0 {
			caller = order.Command()
		}
		testenv.Of(registry.Add(t.Context(), caller, token.Request{MerchantID: 355, Scopes: order.MerchantScopes}, order.Options[token.Created]{})).Must(t)
	}
	testenv.Of(registry.RevokeID(t.Context(), by(1), 2, order.Options[int64]{})).Must(t)
	stranger := by(6)
	stranger.MerchantID = 356
	testenv.Of(registry.RevokeFamily(t.Context(), stranger, 1, order.Options[[]int64]{})).WantError(t, "of another merchant", token.ErrUnknown)
	for _, want := range [][]int64{{1, 3, 5}, nil} {
		got, err := registry.RevokeFamily(t.Context(), by(6), 1, order.Options[[]int64]{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("revoked %v, %v, want %v", got, err, want)
		}
	}
	if !db.tokens(t)[4].RevokedAt.IsZero() || !db.tokens(t)[6].RevokedAt.IsZero() {
		t.Errorf("others are revoked: %+v", db.tokens(t))
	}
}

// TestTooMany creates tokens with a merchant's token up to both limits.
// Proves decision 1 (a merchant's own tokens).
func TestTooMany(t *testing.T) {
	t.Parallel()
	registry, _, clock := newRegistry(t)
	_, acting, err := registry.Create(t.Context(), 355, order.MerchantScopes, 0)
	testenv.NoError(t, err)
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: 355, TokenID: acting.ID, Scopes: acting.Scopes}
	add := func() error {
		_, err := registry.Add(t.Context(), caller, token.Request{MerchantID: 355, Scopes: order.ScopeOrdersRead, Expiry: token.Expiry{After: time.Hour}}, order.Options[token.Created]{})
		return err
	}
	for range token.MaxValid {
		testenv.NoError(t, add())
		// As a start of a demo does.
		if _, _, err := registry.Create(t.Context(), 355, order.ScopeOrdersRead, time.Minute); err != nil {
			t.Error(err)
		}
	}
	testenv.Equal(t, "beyond the valid ones", token.ErrTooMany, add())
	testenv.Of(registry.Rotate(t.Context(), caller, token.Rotation{ID: acting.ID}, order.Options[token.Created]{})).WantError(t, "a rotation beyond", token.ErrTooMany)
	clock.move(2 * time.Hour) // they have expired
	testenv.Equal(t, "beyond those of a day", token.ErrTooMany, add())
	// Operators are not limited.
	if _, _, err := registry.Create(t.Context(), 355, order.ScopeOrdersRead, 0); err != nil {
		t.Error(err)
	}
	clock.move(24 * time.Hour)
	testenv.NoError(t, add())
}

func TestLabelProblem(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"": "", "Ταμείο 1": "", strings.Repeat("α", 100): "", "a|b": "",
		strings.Repeat("α", 101): "must be text of at most 100 characters",
		"\xff":                   "must be text of at most 100 characters",
		"a\nb":                   "must be on one line, without control characters",
		"\x00":                   "must be on one line, without control characters",
		"\u0085":                 "must be on one line, without control characters",
		"a\u2028b":               "must be on one line, without control characters",
		"\u202eσοκίΝ":            "must be on one line, without control characters",
		"a\u2066b":               "must be on one line, without control characters",
		" ":                      "must have a character that can be seen",
		"\u200b\u00a0":           "must have a character that can be seen",
		"می\u200cخواهم":          "", // letters that must not join
	} {
		testenv.Equal(t, label, want, token.LabelProblem(label))
	}
}
