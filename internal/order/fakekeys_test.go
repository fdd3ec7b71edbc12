package order_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// fakeKey is a key that a merchant has used.
type fakeKey struct {
	request [sha256.Size]byte
	takenAt time.Time
	order   int64 // with invoice: what it is held for
	invoice int64
	answer  []byte
}

func keyName(merchantID int64, key string) string { return fmt.Sprintf("%d %s", merchantID, key) }

func (t *fakeTx) ReserveIdempotencyKey(_ context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error {
	if err := t.store.ask("ReserveIdempotencyKey"); err != nil {
		return err
	}
	name := keyName(merchantID, key)
	if k, ok := t.keys[name]; ok && at.Before(k.takenAt.Add(order.IdempotencyRetention)) {
		held := false
		if o := t.orders[k.order]; o != nil {
			e := o.entry(k.invoice)
			held = e != nil && e.status == reserved
		}
		switch {
		case k.answer == nil && !held:
		case k.request != request:
			return order.ErrIdempotencyKeyReused
		case k.answer == nil:
			return order.ErrIdempotencyKeyInUse
		default:
			return &order.ReplayError{Response: k.answer}
		}
	}
	t.keys[name] = fakeKey{request: request, takenAt: at}
	return nil
}

func (t *fakeTx) HoldIdempotencyKey(_ context.Context, head order.LockedOrder, key string, invoiceID int64) error {
	name := keyName(head.MerchantID, key)
	k := t.keys[name]
	k.order, k.invoice = head.LegacyID, invoiceID
	t.keys[name] = k
	return t.store.ask("HoldIdempotencyKey")
}

func (t *fakeTx) SaveResponse(_ context.Context, merchantID int64, key string, request [sha256.Size]byte, answer []byte) error {
	name := keyName(merchantID, key)
	k, ok := t.keys[name]
	if !ok || k.request != request || k.answer != nil {
		return fmt.Errorf("key %s is not taken", key)
	}
	k.answer = answer
	t.keys[name] = k
	return t.store.ask("SaveResponse")
}

func (s *fakeStore) DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error) {
	end, err := s.begin(ctx, "DeleteIdempotencyRecords")
	defer end()
	n := 0
	for name, k := range s.keys {
		if n < limit && !k.takenAt.After(before) {
			delete(s.keys, name)
			n++
		}
	}
	return n, err
}
