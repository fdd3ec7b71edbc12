package order_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// fakeRecord is an idempotency record.
type fakeRecord struct {
	request   [sha256.Size]byte
	createdAt time.Time
	order     int64 // with invoice: the reservation that holds the key
	invoice   int64
	response  []byte
}

func recordKey(merchantID int64, key string) string { return fmt.Sprintf("%d %s", merchantID, key) }

func (t *fakeTx) ReserveIdempotencyKey(_ context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error {
	if err := t.store.ask("ReserveIdempotencyKey"); err != nil {
		return err
	}
	name := recordKey(merchantID, key)
	if k, ok := t.keys[name]; ok && at.Before(k.createdAt.Add(order.IdempotencyRetention)) {
		held := false
		if o := t.orders[k.order]; o != nil {
			e := o.entry(k.invoice)
			held = e != nil && e.status == reserved
		}
		switch {
		case k.response == nil && !held:
		case k.request != request:
			return order.ErrIdempotencyKeyReused
		case k.response == nil:
			return order.ErrIdempotencyKeyInUse
		default:
			return &order.ReplayError{Response: k.response}
		}
	}
	t.keys[name] = fakeRecord{request: request, createdAt: at}
	return nil
}

func (t *fakeTx) HoldIdempotencyKey(_ context.Context, head order.LockedOrder, key string, invoiceID int64) error {
	name := recordKey(head.MerchantID, key)
	k := t.keys[name]
	k.order, k.invoice = head.LegacyID, invoiceID
	t.keys[name] = k
	return t.store.ask("HoldIdempotencyKey")
}

func (t *fakeTx) SaveResponse(_ context.Context, merchantID int64, key string, request [sha256.Size]byte, response []byte) error {
	name := recordKey(merchantID, key)
	k, ok := t.keys[name]
	if !ok || k.request != request || k.response != nil {
		return fmt.Errorf("key %s has no record", key)
	}
	k.response = response
	t.keys[name] = k
	return t.store.ask("SaveResponse")
}

func (s *fakeStore) CountIdempotencyRecords(ctx context.Context, merchantID int64, limit int) (int, error) {
	end, err := s.begin(ctx, "CountIdempotencyRecords")
	defer end()
	n := 0
	for name := range s.keys {
		if strings.HasPrefix(name, recordKey(merchantID, "")) {
			n++
		}
	}
	return min(n, limit), err
}

func (s *fakeStore) DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error) {
	end, err := s.begin(ctx, "DeleteIdempotencyRecords")
	defer end()
	n := 0
	for name, k := range s.keys {
		if n < limit && !k.createdAt.After(before) {
			delete(s.keys, name)
			n++
		}
	}
	return n, err
}
