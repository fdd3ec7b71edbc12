package order_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// under is an attempt with a key, whose answer says what came of it. Faults are
// not kept.
func under(key string) order.WriteOptions {
	return order.WriteOptions{
		IdempotencyKey: key, RequestDigest: sha256.Sum256([]byte(key)),
		Response: func(done order.WriteResult, refusal error) ([]byte, error) {
			if errors.Is(refusal, order.ErrUnavailable) || errors.Is(refusal, errBroken) {
				return nil, nil
			}
			return fmt.Appendf(nil, "revision %d, file %q, %d left, %v", done.Revision, done.Invoice.Name, len(done.Invoices), refusal), nil
		},
	}
}

// uploadUnder uploads a file in an attempt.
func uploadUnder(ctx context.Context, s *order.Service, files *fakeFiles, attempt order.WriteOptions) (order.WriteResult, error) {
	draft := &fakeDraft{files: files}
	content := order.Content{Staged: draft, Size: 1}
	return s.Upload(ctx, merchant, order.ByLegacyID(1), "a.pdf", content, attempt)
}

// wantRepeated sees that an error says that an attempt was made before.
func wantRepeated(t *testing.T, err error, answer string) {
	t.Helper()
	var repeated *order.ReplayError
	if !errors.As(err, &repeated) || string(repeated.Response) != answer {
		t.Errorf("error %v (%+v), want the answer %q again", err, repeated, answer)
	}
}

// TestAnswersAreGivenAgain makes every kind of change twice under one key.
func TestAnswersAreGivenAgain(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(head(order.Registered)), newFakeFiles()
	store.rerun = true
	s, ctx, key := newService(store, files), t.Context(), order.ByLegacyID(1)
	steps := []struct {
		name, answer string
		do           func(order.WriteOptions) (order.WriteResult, error)
	}{
		{"accept", `revision 1, file "", 0 left, <nil>`, func(a order.WriteOptions) (order.WriteResult, error) {
			return s.Accept(ctx, merchant, key, a)
		}},
		{"upload", `revision 2, file "a.pdf", 0 left, <nil>`, func(a order.WriteOptions) (order.WriteResult, error) {
			return uploadUnder(ctx, s, files, a)
		}},
		{"delete", `revision 3, file "", 0 left, <nil>`, func(a order.WriteOptions) (order.WriteResult, error) {
			return s.DeleteInvoice(ctx, merchant, key, store.lastID, a)
		}},
	}
	for i, step := range steps {
		done, err := step.do(under(step.name))
		if err != nil || done.Revision != int64(i)+1 {
			t.Fatalf("%s: %+v, error %v", step.name, done, err)
		}
		for range 2 {
			_, err := step.do(under(step.name))
			wantRepeated(t, err, step.answer)
		}
	}
	if o := store.orders[1]; len(o.events) != 3 {
		t.Errorf("events %+v", o.events)
	}
	_, err := s.Reject(ctx, merchant, key, "", under("late"))
	if !errors.Is(err, order.ErrCannotReject) {
		t.Errorf("error %v", err)
	}
	_, err = s.Reject(ctx, merchant, key, "", under("late"))
	wantRepeated(t, err, `revision 0, file "", 0 left, order cannot be rejected in its state`)
}

// TestRefusedUploadIsKept: every refusal of an upload, also of an order that
// cannot be.
func TestRefusedUploadIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key      order.Identifier
		filename string
		size     int64
		want     error
	}{
		{order.ByReference("/"), "a.pdf", 1, order.ErrNotFound},
		{order.ByReference("SF-9"), "a.pdf", 1, order.ErrNotFound},
		{order.ByLegacyID(1), "a.exe", 1, order.ErrUnsupportedFileType},
		{order.ByLegacyID(1), "a.pdf", order.MaxInvoiceSize + 1, order.ErrFileTooBig},
	} {
		store, files := newFakeStore(head(order.Registered)), newFakeFiles()
		s := newService(store, files)
		for i := range 2 {
			_, err := s.Upload(t.Context(), merchant, test.key, test.filename,
				order.Content{Staged: &fakeDraft{files: files}, Size: test.size}, under("k"))
			if i == 0 {
				if !errors.Is(err, test.want) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				continue
			}
			wantRepeated(t, err, `revision 0, file "", 0 left, `+test.want.Error())
		}
	}
}

// TestKeyIsFreeAfterAFault breaks an upload wherever it can break: the key is
// taken by nobody then, and the next try stores the file.
func TestKeyIsFreeAfterAFault(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ store, file string }{
		{"InTx", ""}, {"ReserveIdempotencyKey", ""}, {"LockOrder", ""}, {"ReserveInvoice", ""}, {"HoldIdempotencyKey", ""}, {"commit", ""},
		{"", "Commit"}, {"ActivateInvoice", ""}, {"SaveResponse", ""}, {"appendEvent", ""}, {"appendEvent|MarkPurged", ""},
	} {
		store, files := newFakeStore(head(order.Registered)), newFakeFiles()
		s := newService(store, files)
		store.fail = func(operation string) error {
			if slices.Contains(strings.Split(test.store, "|"), operation) {
				return errors.Join(errBroken, order.ErrUnavailable)
			}
			return nil
		}
		files.fail = failing(test.file)
		_, err := uploadUnder(t.Context(), s, files, under("k"))
		wantUploadFault(t, err)
		store.fail, files.fail = nil, nil
		done, err := uploadUnder(t.Context(), s, files, under("k"))
		if err != nil || done.Revision != 1 {
			t.Errorf("%+v: the next try: %+v, error %v", test, done, err)
		}
		if got := store.orders[1].head.ActiveInvoices; got != 1 {
			t.Errorf("%+v: %d places taken", test, got)
		}
	}
}

// TestStuckUploadLetsGo: after a crash in the midst of an upload its key is
// under way until the reservation is swept, and no longer.
func TestStuckUploadLetsGo(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(head(order.Registered)), newFakeFiles()
	s := newService(store, files)
	// Neither can the upload be finished nor taken back: it is as if it had died.
	files.fail, store.fail = failing("Commit"), failing("ReleaseInvoice")
	if _, err := uploadUnder(t.Context(), s, files, under("k")); err == nil {
		t.Fatal("no error")
	}
	files.fail, store.fail = nil, nil
	for range 2 {
		if _, err := uploadUnder(t.Context(), s, files, under("k")); !errors.Is(err, order.ErrIdempotencyKeyInUse) {
			t.Errorf("before the sweep: error %v", err)
		}
	}
	if n, err := s.ExpireReservations(t.Context(), noonUTC.Add(time.Second)); n != 1 || err != nil {
		t.Fatalf("%d swept, error %v", n, err)
	}
	if _, err := uploadUnder(t.Context(), s, files, under("k")); err != nil {
		t.Errorf("after the sweep: %v", err)
	}
}

// TestAnswerOfALostCommit: a commit that went through although nobody was told
// decides what the next try is answered.
func TestAnswerOfALostCommit(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(head(order.Registered)), newFakeFiles()
	s, key := newService(store, files), order.ByLegacyID(1)
	store.afterCommit = func() error { return errBroken }
	if _, err := s.Accept(t.Context(), merchant, key, under("accept")); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	store.afterCommit = nil
	_, err := s.Accept(t.Context(), merchant, key, under("accept"))
	wantRepeated(t, err, `revision 1, file "", 0 left, <nil>`)

	commits := 0
	store.afterCommit = func() error {
		if commits++; commits == 2 {
			store.fail = failing("ExpireReservation") // nor can it find out
			return errBroken
		}
		return nil
	}
	_, err = uploadUnder(t.Context(), s, files, under("upload"))
	wantUploadFault(t, err)
	store.afterCommit, store.fail = nil, nil
	_, err = uploadUnder(t.Context(), s, files, under("upload"))
	wantRepeated(t, err, `revision 2, file "a.pdf", 0 left, <nil>`)
}

// TestOnlyAsKnown: an order that is not as the client knows it stays as it is,
// whatever else is wrong, and one that is missing is missing.
func TestOnlyAsKnown(t *testing.T) {
	t.Parallel()
	ctx, never := t.Context(), order.WriteOptions{IfMatch: func(order.LockedOrder) bool { return false }}
	store, files := newFakeStore(head(order.Completed)), newFakeFiles()
	s := newService(store, files)
	for key, want := range map[order.Identifier]error{order.ByLegacyID(1): order.ErrPreconditionFailed, order.ByLegacyID(9): order.ErrNotFound} {
		_, acceptErr := s.Accept(ctx, merchant, key, never)
		_, rejectErr := s.Reject(ctx, merchant, key, "whim", never)
		_, uploadErr := s.Upload(ctx, merchant, key, "a.exe", order.Content{Staged: &fakeDraft{files: files}, Size: 1 << 40}, never)
		_, deleteErr := s.DeleteInvoice(ctx, merchant, key, 1, never)
		wantDelete := want
		if errors.Is(want, order.ErrNotFound) {
			wantDelete = order.ErrInvoiceNotFound
		}
		for _, got := range []error{acceptErr, rejectErr, uploadErr} {
			if !errors.Is(got, want) {
				t.Errorf("%+v: error %v, want %v", key, got, want)
			}
		}
		if !errors.Is(deleteErr, wantDelete) {
			t.Errorf("delete of %+v: error %v, want %v", key, deleteErr, wantDelete)
		}
	}
	if o := store.orders[1]; o.events != nil || o.entries != nil || len(files.paths()) > 0 {
		t.Errorf("order %+v, files %q", o, files.paths())
	}
}

// TestChangedWhileUploading: a change that comes in while the file is on its way
// counts too, and leaves nothing of the upload but its answer.
func TestChangedWhileUploading(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(head(order.Registered)), newFakeFiles()
	s := newService(store, files)
	attempt := under("k")
	known := store.orders[1].head.Revision
	attempt.IfMatch = func(head order.LockedOrder) bool { return head.Revision == known }
	files.publishing = func(context.Context) {
		if _, err := s.Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := uploadUnder(t.Context(), s, files, attempt); !errors.Is(err, order.ErrPreconditionFailed) {
		t.Errorf("error %v", err)
	}
	files.publishing = nil
	if o := store.orders[1]; o.head.ActiveInvoices != 0 || len(o.events) != 1 || len(files.paths()) != 0 {
		t.Errorf("order %+v, files %q", o, files.paths())
	}
	_, err := uploadUnder(t.Context(), s, files, attempt)
	wantRepeated(t, err, `revision 0, file "", 0 left, the order has changed`)
}
