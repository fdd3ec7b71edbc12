package token_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// errBroken is an error of the database.
var errBroken = errors.New("it is broken")

// memory is a token.Store in memory.
type memory struct {
	mu      sync.Mutex
	hashes  map[token.Hash]int64
	tokens  map[int64]token.Token
	audit   []order.AuditEntry
	lookups int
	touches []map[int64]token.Use // as they were written
	fail    error                 // of every method
	hang    atomic.Bool           // RecordTokenUse waits for its context's end
}

func newMemory() *memory {
	return &memory{hashes: make(map[token.Hash]int64), tokens: make(map[int64]token.Token)}
}

func (m *memory) Grant(_ context.Context, hash token.Hash) (token.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups++
	id, ok := m.hashes[hash]
	if m.fail == nil && !ok {
		return token.Grant{}, token.ErrUnknown
	}
	return token.Grant{Token: m.tokens[id]}, m.fail
}

// memory is also the token.Tx of its transactions, which nothing rolls back.
func (m *memory) ChangeTokens(_ context.Context, fn func(token.Tx) error) error { return fn(m) }

func (m *memory) ReserveIdempotencyKey(context.Context, int64, order.Key, time.Time) error {
	return nil
}

func (m *memory) CountIdempotencyRecords(context.Context, int64, bool, int) (int, error) {
	return 0, nil
}

func (m *memory) SaveResponse(context.Context, int64, order.Key, []byte) error {
	return nil
}

func (m *memory) AddLoginLink(context.Context, token.Hash, token.LoginLink, order.AuditEntry) error {
	return nil
}

func (m *memory) TakeLoginLink(context.Context, token.Hash) (token.LoginLink, error) {
	return token.LoginLink{}, token.ErrNoLoginLink
}

func (m *memory) AddSession(context.Context, token.Hash, token.Session) error { return nil }

func (m *memory) EndSession(context.Context, token.Hash) (token.Session, error) {
	return token.Session{}, token.ErrNoSession
}

func (m *memory) AddToken(_ context.Context, hash token.Hash, t token.Token, entry order.AuditEntry) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return 0, m.fail
	}
	if t.MerchantID == 404 {
		return 0, order.ErrMerchantNotFound
	}
	t.ID = int64(len(m.tokens)) + 1
	m.hashes[hash], m.tokens[t.ID] = t.ID, t
	entry.SubjectID = t.ID
	m.audit = append(m.audit, entry)
	return t.ID, nil
}

func (m *memory) Tokens(context.Context, token.Filter, time.Time) ([]token.Token, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.tokens), func(a, b token.Token) int { return int(a.ID - b.ID) }), m.fail
}

func (m *memory) LockToken(_ context.Context, id int64) (token.Token, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.tokens[id]
	if !ok && m.fail == nil {
		return token.Token{}, token.ErrUnknown
	}
	return t, m.fail
}

func (m *memory) ExpireToken(_ context.Context, id int64, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tokens[id]
	t.ExpiresAt = at
	m.tokens[id] = t
	return m.fail
}

func (m *memory) RevokeToken(_ context.Context, id int64, at time.Time, entry order.AuditEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tokens[id]
	t.RevokedAt = at
	m.tokens[id] = t
	m.audit = append(m.audit, entry)
	return m.fail
}

func (m *memory) UnrevokedTokens(_ context.Context, merchantID int64) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []int64
	for id, t := range m.tokens {
		if t.MerchantID == merchantID && t.RevokedAt.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, m.fail
}

func (m *memory) CountTokens(_ context.Context, merchantID int64, now, after time.Time) (valid, created int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tokens {
		if t.MerchantID == merchantID && t.Valid(now) {
			valid++
		}
		if t.MerchantID == merchantID && t.CreatedAt.After(after) {
			created++
		}
	}
	return valid, created, m.fail
}

func (m *memory) RecordTokenUse(ctx context.Context, used map[int64]token.Use) error {
	if m.hang.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		m.touches = append(m.touches, maps.Clone(used))
	}
	return m.fail
}

// written returns the calls of RecordTokenUse.
func (m *memory) written() []map[int64]token.Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.touches)
}

// clock is a clock that a test controls.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// noon is the start of the test clocks: half a second past 12, not in UTC.
var noon = time.Date(2026, 11, 20, 14, 0, 0, 5e8, time.FixedZone("EET", 2*60*60))
