package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// hold reserves a key and an invoice, as an upload does.
func (f *fixture) hold(store Store, key order.Identifier, attempt order.Options[order.WriteResult], name string, at time.Time) (int64, error) {
	var id int64
	err := store.InTx(f.Context(), func(tx order.Tx) error {
		if err := tx.ReserveIdempotencyKey(f.Context(), alpha, attempt.Key, at); err != nil {
			return err
		}
		locked, err := tx.LockOrder(f.Context(), alpha, key)
		if err != nil {
			return err
		}
		if id, err = tx.ReserveInvoice(f.Context(), locked, fileNamed(name, at)); err != nil {
			return err
		}
		return tx.HoldIdempotencyKey(f.Context(), locked, attempt.Key, id)
	})
	return id, err
}

func testKeyInUse(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key, attempt := order.ByLegacyID(number), under("k", "upload")
	f.holdAndGiveBack(key, attempt, "released", func(id int64) error {
		return inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
			return tx.ReleaseInvoice(f.Context(), locked, id)
		})
	})
	f.holdAndGiveBack(key, attempt, "abandoned", func(id int64) error {
		reserved := order.StoredInvoice{MerchantID: alpha, OrderLegacyID: number, Reference: "R", ID: id}
		_, err := f.a.ExpireReservation(f.Context(), reserved, noon)
		return err
	})
	// Neither has left the key stuck.
	id, err := f.hold(f.b, key, attempt, "a.pdf", noon)
	testenv.NoError(f, err)
	err = inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		return errors.Join(
			tx.ActivateInvoice(f.Context(), locked, order.Invoice{ID: id}, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon}),
			tx.SaveResponse(f.Context(), alpha, attempt.Key, []byte("stored")),
		)
	})
	testenv.NoError(f, err)
	_, err = f.hold(f.b, key, attempt, "again.pdf", noon)
	f.wantReplay(err, "stored")
	// Deleting the file does not change the recorded response.
	testenv.Of(service(f.a, noon).DeleteInvoice(f.Context(), order.CommandFor(alpha), key, id, order.Options[order.WriteResult]{})).Must(f)
	_, err = f.hold(f.b, key, attempt, "again.pdf", noon)
	f.wantReplay(err, "stored")
}

// holdAndGiveBack reserves a key and an invoice, checks that no other request gets the key, and
// releases the invoice.
func (f *fixture) holdAndGiveBack(key order.Identifier, attempt order.Options[order.WriteResult], name string, giveBack func(id int64) error) {
	f.Helper()
	id, err := f.hold(f.a, key, attempt, name+".pdf", noon)
	if err != nil {
		f.Fatalf("%s: %v", name, err)
	}
	for _, store := range []Store{f.a, f.b} {
		testenv.Of(f.hold(store, key, attempt, "again.pdf", noon)).WantError(f, "while it is in use", order.ErrIdempotencyKeyInUse)
		testenv.Of(f.hold(store, key, under("k", "other"), "other.pdf", noon)).WantError(f, "another request meanwhile", order.ErrIdempotencyKeyReused)
	}
	if err := giveBack(id); err != nil {
		f.Fatalf("%s: %v", name, err)
	}
}

func testRetention(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	accept := func(at time.Time, request string) error {
		_, err := service(f.a, at).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), under("k", request))
		return err
	}
	testenv.NoError(f, accept(noon, "accept"))
	last := noon.Add(order.IdempotencyRetention - time.Second)
	f.wantReplay(accept(last, "accept"), acceptedResponse)
	testenv.Equal(f, "error", order.ErrIdempotencyKeyReused, accept(last, "other"))
	testenv.Equal(f, "after a day", order.ErrCannotAccept, accept(noon.Add(order.IdempotencyRetention), "other"))
	f.wantReplay(accept(noon.Add(2*order.IdempotencyRetention-time.Second), "other"),
		"other: revision 0, "+order.ErrCannotAccept.Error()+"\x00\xff")
}

func testDeleteOldRecords(f *fixture) {
	for i := range 7 {
		for _, merchant := range []int64{alpha, beta} {
			f.record(merchant, fmt.Sprintf("k-%d", i), noon.Add(time.Duration(i)*time.Hour))
		}
	}
	limit := noon.Add(3 * time.Hour)
	for _, want := range []int{3, 3, 2, 0} {
		if n, err := f.b.DeleteIdempotencyRecords(f.Context(), limit, 3); err != nil || n != want {
			f.Fatalf("forgot %d, error %v; want %d", n, err, want)
		}
	}
	left := f.tables.rows()["idempotency_keys"]
	if len(left) != 6 || strings.Contains(strings.Join(left, "\n"), "k-3") {
		f.Errorf("left are %d:\n%s", len(left), strings.Join(left, "\n"))
	}
	testenv.Of(service(f.a, noon.Add(4*time.Hour+order.IdempotencyRetention)).DeleteExpiredIdempotencyRecords(f.Context())).Want(f, "forgotten by the service", 2)
}

func testOddKeys(f *fixture) {
	var printable strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		printable.WriteByte(c)
	}
	keys := []string{"a", "A", "a ", "'; --", printable.String(), strings.Repeat("k", 255), strings.Repeat("k", 254), "%", "_"}
	every := make([]byte, 1<<16)
	for i := range every {
		every[i] = byte(i)
	}
	for i, key := range keys {
		attempt := under(key, fmt.Sprint(i))
		attempt.Record = func(order.WriteResult, error) ([]byte, error) { return append(every, byte(i)), nil }
		f.recordOptions(alpha, attempt, noon)
	}
	for i, key := range keys {
		err := service(f.b, noon).Refuse(f.Context(), order.CommandFor(alpha), under(key, fmt.Sprint(i)).Key, order.ErrInvalidRange)
		var repeated *order.ReplayError
		if !errors.As(err, &repeated) || !bytes.Equal(repeated.Response, append(every, byte(i))) {
			f.Errorf("%q: error %v", key, err)
		}
	}
}
