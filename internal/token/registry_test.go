package token_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// createOperator creates a token of operators with all scopes.
func createOperator(t *testing.T, registry *token.Registry, lifetime time.Duration) (string, token.Token, error) {
	t.Helper()
	request := token.Request{Operator: true, Scopes: order.OperatorScopes, Expiry: token.Expiry{After: lifetime}}
	created, err := registry.Add(t.Context(), order.Command(), request, order.Options[token.Created]{})
	return created.Text, created.Token, err
}

// granted returns what a request needs of a token.
func granted(t token.Token) token.Token {
	t.Hint, t.CreatedAt = "", time.Time{}
	return t
}

func TestCreateAndAuthenticate(t *testing.T) {
	t.Parallel()
	registry, db, _ := newRegistry(t)
	text, made, err := registry.Create(t.Context(), 355, order.ScopeOrdersRead, 90*time.Minute)
	testenv.NoError(t, err)
	want := token.Token{
		ID: 1, MerchantID: 355, Scopes: order.ScopeOrdersRead, Hint: text[:7],
		CreatedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		ExpiresAt: time.Date(2026, 11, 20, 13, 30, 0, 0, time.UTC),
	}
	testenv.Equal(t, "token", want, made)
	if !strings.HasPrefix(text, "mo_") || made.Operator() {
		t.Errorf("%q, operator %v", text, made.Operator())
	}
	testenv.Equal(t, "grant", granted(want), testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).Must(t).Token)
	hash := testenv.Of(token.HashText(text)).Must(t)
	testenv.Equal(t, "stored under its hash", 1, testenv.Of(db.DB.Grant(t.Context(), hash)).Must(t).Token.ID)

	text, made, err = createOperator(t, registry, 0)
	if err != nil || !strings.HasPrefix(text, "mop_") || !made.Operator() || made.Scopes != order.OperatorScopes || !made.ExpiresAt.IsZero() {
		t.Errorf("operator's token %q, %+v, error %v", text, made, err)
	}
	testenv.Equal(t, "grant", granted(made), testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).Must(t).Token)
	if all, err := registry.List(t.Context(), token.Filter{}); err != nil || len(all) != 2 || all[1] != made {
		t.Errorf("list %+v, error %v", all, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	registry, db, _ := newRegistry(t)
	for name, test := range map[string]struct {
		merchant int64
		lifetime time.Duration
		want     error
	}{
		"no merchant":          {0, 0, order.ErrMerchantNotFound},
		"negative merchant":    {-355, 0, order.ErrMerchantNotFound},
		"a merchant not there": {404, 0, order.ErrMerchantNotFound},
		"negative lifetime":    {355, -time.Hour, token.ErrLifetime},
	} {
		if text, made, err := registry.Create(t.Context(), test.merchant, order.DefaultScopes, test.lifetime); !errors.Is(err, test.want) || text != "" || made != (token.Token{}) {
			t.Errorf("%s: %q, %+v, error %v", name, text, made, err)
		}
	}
	if _, _, err := createOperator(t, registry, -1); !errors.Is(err, token.ErrLifetime) {
		t.Errorf("operator's token: error %v", err)
	}
	db.fail = errBroken
	if text, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0); !errors.Is(err, errBroken) || text != "" {
		t.Errorf("store broken: %q, error %v", text, err)
	}
	if len(db.tokens(t)) > 0 {
		t.Errorf("stored %v", db.tokens(t))
	}
}

func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	registry, db, clock := newRegistry(t)
	unknown, _ := token.NewText(token.MerchantPrefix)
	testenv.Of(registry.Authenticate(t.Context(), unknown, netip.Addr{})).WantError(t, "unknown", token.ErrUnknown)
	lookups := db.lookups
	for _, text := range []string{"", "good", unknown[:41], unknown + "x", "mop_" + unknown[3:], strings.ToLower(unknown) + "\x00"} {
		testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).WantError(t, text, token.ErrUnknown)
	}
	testenv.Equal(t, "lookups after a malformed token", lookups, db.lookups)

	short, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, time.Hour)
	testenv.NoError(t, err)
	clock.move(time.Hour - time.Second)
	testenv.Of(registry.Authenticate(t.Context(), short, netip.Addr{})).Must(t)
	clock.move(time.Second)
	if got, err := registry.Authenticate(t.Context(), short, netip.Addr{}); !errors.Is(err, token.ErrUnknown) || got != (token.Grant{}) {
		t.Errorf("expired: %+v, error %v", got, err)
	}
	db.fail = errBroken
	if _, err := registry.Authenticate(t.Context(), short, netip.Addr{}); !errors.Is(err, errBroken) || errors.Is(err, token.ErrUnknown) {
		t.Errorf("store broken: error %v", err)
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		operator          bool
		lifetime, renewed time.Duration // of the old token; of the new one, as requested
		overlap           time.Duration
		old, created      time.Duration // when they expire, after noon; 0: never
	}{
		"for ever":           {overlap: day, old: day},
		"operator":           {operator: true, overlap: day, old: day},
		"the same lifetime":  {lifetime: 90 * day, overlap: day, old: day, created: 90 * day},
		"another lifetime":   {lifetime: 90 * day, renewed: 7 * day, overlap: day, old: day, created: 7 * day},
		"expires earlier":    {lifetime: time.Hour, overlap: day, old: time.Hour, created: time.Hour},
		"without an overlap": {overlap: 0, old: -1},
	} {
		registry, db, _ := newRegistry(t)
		create := func() (string, token.Token, error) {
			return registry.Create(t.Context(), 355, order.ScopeOrdersRead|order.ScopeOrdersWrite, c.lifetime)
		}
		if c.operator {
			create = func() (string, token.Token, error) {
				return createOperator(t, registry, c.lifetime)
			}
		}
		first, before, err := create()
		testenv.NoError(t, err)
		text, created, old, err := rotate(t.Context(), registry, first, c.overlap, c.renewed)
		if err != nil || text == first || created.ID != 2 || old.ID != 1 || created != db.tokens(t)[2] || old != db.tokens(t)[1] {
			t.Errorf("%s: %+v, %+v, error %v", name, created, old, err)
		}
		if created.MerchantID != before.MerchantID || created.Scopes != before.Scopes || created.Operator() != c.operator ||
			strings.HasPrefix(text, "mop_") != c.operator {
			t.Errorf("%s: %+v replaces %+v", name, created, before)
		}
		noonInSeconds := noon.Truncate(time.Second)
		for _, expiry := range []struct {
			of   token.Token
			want time.Duration
		}{{old, c.old}, {created, c.created}} {
			want := time.Time{}
			if expiry.want != 0 {
				want = noonInSeconds.Add(max(expiry.want, 0))
			}
			testenv.Equal(t, fmt.Sprintf("%s: token %d expires at", name, expiry.of.ID), want, expiry.of.ExpiresAt)
		}
		_, err = registry.Authenticate(t.Context(), first, netip.Addr{})
		testenv.Equal(t, name+": the old token is valid", c.overlap > 0, err == nil)
		testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).WantError(t, name+": the new token", nil)
	}
}

// rotate replaces a token by its id or its text, as the command does.
func rotate(ctx context.Context, registry *token.Registry, idOrText string, overlap, lifetime time.Duration) (string, token.Token, token.Token, error) {
	id, err := registry.ID(ctx, idOrText)
	if err != nil {
		return "", token.Token{}, token.Token{}, err
	}
	created, err := registry.Rotate(ctx, order.Command(), token.Rotation{ID: id, Overlap: overlap, Expiry: token.Expiry{After: lifetime}}, order.Options[token.Created]{})
	return created.Text, created.Token, created.Replaced, err
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	registry, db, clock := newRegistry(t)
	text, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, time.Hour)
	testenv.NoError(t, err)
	unknown, _ := token.NewText(token.MerchantPrefix)
	for _, name := range []string{"2", "0", "x", unknown} {
		if _, _, _, err := rotate(t.Context(), registry, name, 0, 0); !errors.Is(err, token.ErrUnknown) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	clock.move(time.Hour)
	if _, _, _, err := rotate(t.Context(), registry, text, 0, 0); err == nil || err.Error() != "token 1 has expired or is revoked" {
		t.Errorf("expired: error %v", err)
	}
	testenv.Equal(t, "tokens", 1, len(db.tokens(t)))
}

func TestRevokeUnknown(t *testing.T) {
	t.Parallel()
	registry, db, _ := newRegistry(t)
	revoke := func(text string) (int64, error) {
		id, err := registry.ID(t.Context(), text)
		if err != nil {
			return 0, err
		}
		return registry.RevokeID(t.Context(), order.Command(), id, order.Options[int64]{})
	}
	unknown, _ := token.NewText(token.OperatorPrefix)
	for _, text := range []string{"", "0", "-1", "99", "99999999999999999999", "mo_", "abc", unknown} {
		testenv.Of(revoke(text)).WantError(t, fmt.Sprintf("%q: id", text), token.ErrUnknown)
	}
	db.fail = errBroken
	testenv.Of(revoke(unknown)).WantError(t, "store broken", errBroken)
}

// sameAddress compares addresses.
var sameAddress = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

// TestRecordUses checks that uses are written at the interval and at the end.
// Proves decision 1 (last use).
func TestRecordUses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry, db, clock := newRegistry(t)
		first, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0)
		testenv.NoError(t, err)
		second, _, err := registry.Create(t.Context(), 356, order.DefaultScopes, 0)
		testenv.NoError(t, err)
		here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
		verify := func(text string, from netip.Addr) {
			testenv.Of(registry.Authenticate(t.Context(), text, from)).WantError(t, "authenticate", nil)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			registry.RecordUses(ctx, time.Minute, slog.New(slog.DiscardHandler))
			close(ended)
		}()

		verify(first, there)
		clock.move(time.Second)
		verify(first, here)
		verify(second, netip.Addr{})
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if early := db.written(); len(early) > 0 {
			t.Errorf("written too early: %v", early)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		time.Sleep(5 * time.Minute) // with nothing to write
		clock.move(time.Minute)
		verify(second, there)
		cancel()
		<-ended
		want := []map[int64]token.Use{
			{1: {noon.Add(time.Second), here}, 2: {noon.Add(time.Second), netip.Addr{}}},
			{2: {noon.Add(61 * time.Second), there}},
		}
		testenv.Equal(t, "written", want, db.written(), sameAddress)
	})
}

// TestRecordUsesRetries checks that uses of a failed write are written later.
func TestRecordUsesRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry, db, clock := newRegistry(t)
		var texts []string
		for range 2 {
			text, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0)
			testenv.NoError(t, err)
			testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).Must(t)
			texts = append(texts, text)
		}
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			registry.RecordUses(ctx, time.Minute, slog.New(slog.NewTextHandler(&log, nil)))
			close(ended)
		}()
		db.hang.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		clock.move(time.Minute)
		if _, err := registry.Authenticate(t.Context(), texts[0], netip.Addr{}); err != nil { // while the writing hangs
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		db.hang.Store(false)
		cancel()
		<-ended
		testenv.Equal(t, "written", []map[int64]token.Use{{1: {At: noon.Add(time.Minute)}, 2: {At: noon}}}, db.written(), sameAddress)
		testenv.Contains(t, "log", log.String(), "cannot write the last-used times of tokens")
		testenv.Lacks(t, "log", log.String(), "mo_")
	})
}

// TestRecordUsesTimeout checks that a database that hangs does not block the end.
func TestRecordUsesTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry, db, _ := newRegistry(t)
		text, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0)
		testenv.NoError(t, err)
		testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).Must(t)
		db.hang.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		registry.RecordUses(ctx, time.Hour, slog.New(slog.DiscardHandler))
		testenv.Equal(t, "ended after", 5*time.Second, time.Since(start))
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	registry, db, clock := newRegistry(t)
	text, _, err := registry.Create(t.Context(), 355, order.DefaultScopes, 0)
	testenv.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var keeper, all sync.WaitGroup
	keeper.Go(func() { registry.RecordUses(ctx, time.Microsecond, slog.New(slog.DiscardHandler)) })
	for range 8 {
		all.Go(func() {
			for range 200 {
				testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).WantError(t, "authenticate", nil)
			}
		})
	}
	all.Wait()
	clock.move(time.Minute)
	testenv.Of(registry.Authenticate(t.Context(), text, netip.Addr{})).Must(t)
	cancel()
	keeper.Wait()
	written := db.written()
	testenv.Equal(t, "the last use written", noon.Add(time.Minute), written[len(written)-1][1].At)
}
