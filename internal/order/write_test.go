package order_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// withKey returns options with an idempotency key. The response shows the result.
// Failures of the service are not recorded.
func withKey(key string) order.Options[order.WriteResult] {
	return order.Options[order.WriteResult]{
		Key: order.Key{Text: key, Digest: sha256.Sum256([]byte(key))},
		Record: func(done order.WriteResult, refusal error) ([]byte, error) {
			if errors.Is(refusal, order.ErrUnavailable) || errors.Is(refusal, errBroken) {
				return nil, nil
			}
			return fmt.Appendf(nil, "revision %d, file %q, %d left, %v", changes(done.Revision), done.Invoice.Name, len(done.Invoices), refusal), nil
		},
	}
}

// uploadWithKey uploads a file with options.
func uploadWithKey(t *testing.T, s *order.Service, files *folder, options order.Options[order.WriteResult]) (order.WriteResult, error) {
	t.Helper()
	return s.Upload(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), "a.pdf", order.Content{Staged: files.stage(t), Size: 1}, options)
}

// wantReplay checks that an error is a replay of a response.
func wantReplay(t *testing.T, err error, response string) {
	t.Helper()
	var repeated *order.ReplayError
	if !errors.As(err, &repeated) || string(repeated.Response) != response {
		t.Errorf("error %v (%+v), want a replay of %q", err, repeated, response)
	}
}

// TestKeyIsFreeAfterFailure makes an upload fail at every step: the key is free
// afterwards, and the next attempt stores the file.
// Proves decision 8 (keys become free).
func TestKeyIsFreeAfterFailure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ store, file string }{
		{"InTx", ""}, {"ReserveIdempotencyKey", ""}, {"LockOrder", ""}, {"ReserveInvoice", ""}, {"HoldIdempotencyKey", ""}, {"commit", ""},
		{"", "Commit"}, {"ActivateInvoice", ""}, {"SaveResponse", ""}, {"ActivateInvoice|MarkPurged", ""},
	} {
		db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
		s := newService(db, files)
		db.fail, files.fail = failing(strings.Split(test.store, "|")...), failing(test.file)
		_, err := uploadWithKey(t, s, files, withKey("k"))
		wantUploadFailed(t, err)
		db.fail, files.fail = nil, nil
		testenv.Equal(t, fmt.Sprintf("%+v: the next attempt", test), 1, changes(testenv.Of(uploadWithKey(t, s, files, withKey("k"))).Must(t).Revision))
		testenv.Equal(t, fmt.Sprintf("%+v: slots used", test), 1, db.slots(t, 1))
	}
}

// TestKeyIsFreeAfterReservationExpires: after a crash during an upload its key is
// in use until the reservation expires.
// Proves decision 8 (keys become free).
func TestKeyIsFreeAfterReservationExpires(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	// The upload can neither finish nor release its reservation, as after a crash.
	files.fail, db.fail = failing("Commit"), failing("ReleaseInvoice")
	if _, err := uploadWithKey(t, s, files, withKey("k")); err == nil {
		t.Fatal("no error")
	}
	files.fail, db.fail = nil, nil
	for range 2 {
		testenv.Of(uploadWithKey(t, s, files, withKey("k"))).WantError(t, "before the reservation expires", order.ErrIdempotencyKeyInUse)
	}
	testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).Want(t, "expired reservations", 1)
	testenv.Of(uploadWithKey(t, s, files, withKey("k"))).WantError(t, "after the reservation has expired", nil)
}

// TestReplayAfterLostCommitResponse: if a commit succeeded although it returned an
// error, the next attempt replays its response.
func TestReplayAfterLostCommitResponse(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s, id := newService(db, files), order.ByLegacyID(1)
	db.afterCommit = func() error { return errBroken }
	if _, err := s.Accept(t.Context(), order.CommandFor(merchant), id, withKey("accept")); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	db.afterCommit = nil
	_, err := s.Accept(t.Context(), order.CommandFor(merchant), id, withKey("accept"))
	wantReplay(t, err, `revision 1, file "", 0 left, <nil>`)

	commits := 0
	db.afterCommit = func() error {
		if commits++; commits == 2 {
			db.fail = failing("ExpireReservation") // so that the upload cannot find out
			return errBroken
		}
		return nil
	}
	_, err = uploadWithKey(t, s, files, withKey("upload"))
	wantUploadFailed(t, err)
	db.afterCommit, db.fail = nil, nil
	_, err = uploadWithKey(t, s, files, withKey("upload"))
	wantReplay(t, err, `revision 2, file "a.pdf", 0 left, <nil>`)
}

// TestIfMatchWithReservedSlots: if all slots are taken, some of them by uploads in
// progress, an upload with If-Match is refused for the precondition. The order has
// fewer files than the limit.
// Proves decision 8 (time of the check).
func TestIfMatchWithReservedSlots(t *testing.T) {
	t.Parallel()
	for unfinished, want := range map[int]error{1: order.ErrPreconditionFailed, 0: order.ErrTooManyFiles} {
		db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
		s := newService(db, files)
		for i := range order.MaxInvoices {
			if i == order.MaxInvoices-unfinished {
				files.fail, db.fail = failing("Commit"), failing("ReleaseInvoice")
			}
			if _, err := uploadWithKey(t, s, files, order.Options[order.WriteResult]{}); (err != nil) != (i == order.MaxInvoices-unfinished) {
				t.Fatal(err)
			}
		}
		files.fail, db.fail = nil, nil
		match := order.Options[order.WriteResult]{IfMatch: func(order.LockedOrder) bool { return true }}
		testenv.Of(uploadWithKey(t, s, files, match)).WantError(t, fmt.Sprintf("%d reserved", unfinished), want)
		testenv.Of(uploadWithKey(t, s, files, order.Options[order.WriteResult]{})).WantError(t, fmt.Sprintf("%d reserved, without If-Match", unfinished), order.ErrTooManyFiles)
	}
}

// TestIfMatchDuringUpload: a change between reservation and activation refuses the
// upload, of which only the recorded response remains.
// Proves decision 8 (time of the check; one of several succeeds).
func TestIfMatchDuringUpload(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	options := withKey("k")
	known := db.order(t, 1).Revision
	options.IfMatch = func(head order.LockedOrder) bool { return head.Revision == known }
	files.committing = func(context.Context) {
		if _, err := s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{}); err != nil {
			t.Error(err)
		}
	}
	testenv.Of(uploadWithKey(t, s, files, options)).WantError(t, "with another tag", order.ErrPreconditionFailed)
	files.committing = nil
	if slots, events := db.slots(t, 1), db.events(t, 1); slots != 0 || len(events) != 1 || len(files.paths(t)) != 0 {
		t.Errorf("%d slots used, events %+v, files %q", slots, events, files.paths(t))
	}
	_, err := uploadWithKey(t, s, files, options)
	wantReplay(t, err, `revision 0, file "", 0 left, the order has changed`)
}

// TestTooManyIdempotencyKeys fills the records of a merchant: new keys are refused
// until records have been deleted, while recorded responses are replayed and requests
// without a key pass. Records of other processes count too.
// Proves decision 8 (number of records).
func TestTooManyIdempotencyKeys(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), newDatabase(t, sample(order.Registered))
	now := noon
	s := order.NewService(db, nil, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	reject := func(options order.Options[order.WriteResult]) error {
		_, err := s.Reject(ctx, order.CommandFor(merchant), order.ByLegacyID(1), "whim", options)
		return err
	}
	db.records = order.MaxIdempotencyRecords - 2
	for i, want := range []error{order.ErrInvalidReason, order.ErrInvalidReason, order.ErrTooManyIdempotencyKeys, order.ErrTooManyIdempotencyKeys} {
		testenv.Equal(t, fmt.Sprintf("key %d", i), want, reject(withKey(fmt.Sprint(i))))
	}
	testenv.Of(db.DB.CountIdempotencyRecords(ctx, merchant, false, 100)).Want(t, "records", 2)
	wantReplay(t, reject(withKey("1")), `revision 0, file "", 0 left, `+order.ErrInvalidReason.Error())
	testenv.Equal(t, "without a key", order.ErrInvalidReason, reject(order.Options[order.WriteResult]{}))
	db.records = 0
	now = now.Add(10 * time.Second)
	testenv.Equal(t, "after the deletion", order.ErrInvalidReason, reject(withKey("4")))
	db.records = order.MaxIdempotencyRecords
	now = now.Add(10 * time.Second)
	testenv.Equal(t, "after another process filled it", order.ErrTooManyIdempotencyKeys, reject(withKey("5")))
}

// TestTooManyBulkKeys fills the records of bulk changes: a batch with a new key is
// refused as a whole, while recorded changes and those without a key pass.
// Proves decision 2 (their keys).
func TestTooManyBulkKeys(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), newDatabase(t, sample(order.Registered))
	s := newService(db, nil)
	change := func(code, key string) order.BatchChange {
		return order.BatchChange{
			MerchantID: merchant, Reference: "SF-1",
			Update: order.Update{Correction: order.Correction{Carrier: order.CarrierCorrection{TrackingCodes: order.To(code)}}},
			Key:    order.Key{Text: key, Line: 1, Digest: sha256.Sum256([]byte(code))},
		}
	}
	send := func(batch ...order.BatchChange) ([]order.BatchResult, error) {
		return s.ChangeOrders(ctx, order.Command(), batch, func(order.BatchChange, order.BatchResult) ([]byte, error) {
			return []byte("made"), nil
		})
	}
	db.records = order.MaxIdempotencyRecords - 1
	if results, err := send(change("A", "1")); err != nil || !results[0].Changed {
		t.Fatalf("the last key: %+v, %v", results, err)
	}
	testenv.Of(send(change("B", ""), change("C", "2"))).WantError(t, "one more", order.ErrTooManyIdempotencyKeys)
	testenv.Equal(t, "events", 1, len(db.events(t, 1)))
	results, err := send(change("A", "1"), change("D", ""), change("B", "1"))
	if err != nil || !results[1].Changed || !errors.Is(results[2].Err, order.ErrIdempotencyKeyReused) {
		t.Fatalf("recorded, without a key, reused: %+v, %v", results, err)
	}
	wantReplay(t, results[0].Err, "made")
	if key := withKey("1").Key; errors.Is(s.Refuse(ctx, order.Command(), key, order.ErrTooManyIdempotencyKeys), order.ErrIdempotencyKeyReused) {
		t.Error("the keys of bulk changes are those of other requests of operators")
	}
}
