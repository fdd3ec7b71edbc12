package order_test

import (
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// noon is the clock of these tests: half a second past 12 in another zone.
var noon = time.Date(2026, 11, 20, 14, 0, 0, 5e8, time.FixedZone("EET", 2*60*60))

// noonUTC is the same time as the service returns it.
var noonUTC = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	merchant = 355
	stranger = 356
)

// errBroken is an error of a database or a disk.
var errBroken = errors.New("it is broken")

// locked returns the order of these tests in a state.
func locked(state order.State) order.LockedOrder {
	return order.LockedOrder{MerchantID: merchant, LegacyID: 1, Reference: "SF-1", State: state}
}

func newService(store *fakeStore, files *fakeFiles) *order.Service {
	return order.NewService(store, files, func() time.Time { return noon }, slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// failing returns a fail function with which one operation fails.
func failing(operation string) func(string) error {
	return func(asked string) error {
		if asked == operation {
			return errBroken
		}
		return nil
	}
}

func TestServiceClock(t *testing.T) {
	t.Parallel()
	if got := newService(newFakeStore(), newFakeFiles()).Now(); got != noonUTC {
		t.Errorf("the service says %s, want %s", got, noonUTC)
	}
}

// TestTransitionFromEveryState checks accept, reject and every transition of the
// operator against decision 2.
func TestTransitionFromEveryState(t *testing.T) {
	t.Parallel()
	byMerchant, byOperator := allowedTransitions(merchantTransitions), allowedTransitions(operatorTransitions)
	type action struct {
		name    string
		actor   order.Actor
		to      order.State
		legal   map[string]bool
		refusal error
		do      func(*order.Service) (order.LockedOrder, error)
	}
	ctx, id := t.Context(), order.ByLegacyID(1)
	actions := []action{
		{"accept", order.ActorMerchant, order.InProcessing, byMerchant, order.ErrCannotAccept, func(s *order.Service) (order.LockedOrder, error) {
			done, err := s.Accept(ctx, merchant, id, order.WriteOptions{})
			return done.LockedOrder, err
		}},
		{"reject", order.ActorMerchant, order.RejectedByMerchant, byMerchant, order.ErrCannotReject, func(s *order.Service) (order.LockedOrder, error) {
			done, err := s.Reject(ctx, merchant, id, "damaged", order.WriteOptions{})
			return done.LockedOrder, err
		}},
	}
	for _, to := range append(order.States(), 0, 200) {
		actions = append(actions, action{"move", order.ActorOperator, to, byOperator, order.ErrInvalidTransition, func(s *order.Service) (order.LockedOrder, error) {
			done, err := s.Transition(ctx, merchant, id, to, order.WriteOptions{})
			return done.LockedOrder, err
		}})
	}
	for _, from := range order.States() {
		for _, a := range actions {
			store := newFakeStore(locked(from))
			moved, err := a.do(newService(store, newFakeFiles()))
			stored := store.orders[1]
			if !a.legal[from.String()+" "+a.to.String()] {
				if !errors.Is(err, a.refusal) || stored.head.State != from || !stored.updated.IsZero() || stored.events != nil {
					t.Errorf("%s to %s from %s: error %v, order %+v", a.name, a.to, from, err, stored)
				}
				continue
			}
			want := locked(from)
			want.State = a.to
			want.Revision, want.NextRevision = 1, 1
			if err != nil || moved != want || stored.head.State != a.to || stored.updated != noonUTC {
				t.Errorf("%s to %s from %s: error %v, returned %+v, order %+v", a.name, a.to, from, err, moved, stored)
			}
			event := order.Event{Seq: 1, Type: order.OrderStateChanged, Actor: a.actor, At: noonUTC, From: from, To: a.to}
			if a.name == "reject" {
				event.Reason = "damaged"
			}
			if diff := cmp.Diff([]order.Event{event}, stored.events); diff != "" {
				t.Errorf("%s to %s from %s: events (-want +got):\n%s", a.name, a.to, from, diff)
			}
		}
	}
}

// TestOrderOfRefusals: the order of checks is order, reason, state (decision 5).
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		merchant int64
		id       order.Identifier
		state    order.State
		reason   order.Reason
		want     error
	}{
		{"everything wrong", stranger, order.ByLegacyID(9), order.Completed, "whim", order.ErrNotFound},
		{"another merchant's", stranger, order.ByLegacyID(1), order.Completed, "whim", order.ErrNotFound},
		{"another merchant's, all else right", stranger, order.ByReference("SF-1"), order.Registered, "", order.ErrNotFound},
		{"missing", merchant, order.ByReference("SF-2"), order.Completed, "whim", order.ErrNotFound},
		{"reason and state", merchant, order.ByLegacyID(1), order.Completed, "whim", order.ErrInvalidReason},
		{"reason alone", merchant, order.ByLegacyID(1), order.Registered, "whim", order.ErrInvalidReason},
		{"state alone", merchant, order.ByLegacyID(1), order.Completed, "damaged", order.ErrCannotReject},
		{"nothing", merchant, order.ByReference("SF-1"), order.Registered, "", nil},
	} {
		store := newFakeStore(locked(test.state))
		_, err := newService(store, newFakeFiles()).Reject(t.Context(), test.merchant, test.id, test.reason, order.WriteOptions{})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		if changed := len(store.orders[1].events) > 0; changed != (test.want == nil) {
			t.Errorf("%s: changed %v", test.name, changed)
		}
	}
}

// TestInvalidIdentifiersDoNotReachTheStore: PostgreSQL returns errors for some
// of them.
func TestInvalidIdentifiersDoNotReachTheStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, id := range []order.Identifier{
		{}, order.ByLegacyID(-1), order.ByReference("a\x00"), order.ByReference("\xff"), order.ByReference(".."), order.ByReference("a/b"),
	} {
		store := newFakeStore(locked(order.Registered))
		s := newService(store, newFakeFiles())
		_, getErr := s.Get(ctx, merchant, id)
		_, acceptErr := s.Accept(ctx, merchant, id, order.WriteOptions{})
		_, rejectErr := s.Reject(ctx, merchant, id, "whim", order.WriteOptions{})
		_, moveErr := s.Transition(ctx, merchant, id, order.Canceled, order.WriteOptions{})
		_, uploadErr := s.Upload(ctx, merchant, id, "a.exe", order.Content{Staged: &fakeStagedFile{}}, order.WriteOptions{})
		for name, err := range map[string]error{"get": getErr, "accept": acceptErr, "reject": rejectErr, "move": moveErr, "upload": uploadErr} {
			if !errors.Is(err, order.ErrNotFound) {
				t.Errorf("%s of %+v: error %v", name, id, err)
			}
		}
		if _, err := s.DeleteInvoice(ctx, merchant, id, 1, order.WriteOptions{}); !errors.Is(err, order.ErrInvoiceNotFound) {
			t.Errorf("delete of %+v: error %v", id, err)
		}
		if store.calls != 0 {
			t.Errorf("%+v reached the store", id)
		}
	}
}

func TestTransitionIsAtomic(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"InTx", "LockOrder", "Transition", "appendEvent", "commit"} {
		store := newFakeStore(locked(order.Registered))
		store.fail = failing(operation)
		_, err := newService(store, newFakeFiles()).Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{})
		if !errors.Is(err, errBroken) {
			t.Errorf("%s fails: error %v", operation, err)
		}
		if o := store.orders[1]; o.head.State != order.Registered || o.events != nil {
			t.Errorf("%s fails: the order is %+v", operation, o)
		}
	}
}

func TestTransactionsAreRetried(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(locked(order.Registered)), newFakeFiles()
	store.rerun = true
	s := newService(store, files)
	if _, err := s.Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{}); err != nil {
		t.Errorf("accept: %v", err)
	}
	_, invoice, err := upload(t, s, "a.pdf", "bytes")
	if err != nil {
		t.Fatalf("upload: %v", err)
	}
	if done, err := s.DeleteInvoice(t.Context(), merchant, order.ByLegacyID(1), invoice.ID, order.WriteOptions{}); err != nil || len(done.Invoices) != 0 {
		t.Errorf("delete: %v, left %v", err, done.Invoices)
	}
	o := store.orders[1]
	if len(o.events) != 3 || len(o.entries) != 1 || o.head.ActiveInvoices != 0 {
		t.Errorf("the order is %+v", o)
	}
}

func TestOneOfManyTransitionsWins(t *testing.T) {
	t.Parallel()
	store := newFakeStore(locked(order.Registered))
	s := newService(store, newFakeFiles())
	errs := make([]error, 32)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			if i%2 == 0 {
				_, errs[i] = s.Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{})
			} else {
				_, errs[i] = s.Reject(t.Context(), merchant, order.ByReference("SF-1"), "damaged", order.WriteOptions{})
			}
		})
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		refusal := order.ErrCannotAccept
		if i%2 == 1 {
			refusal = order.ErrCannotReject
		}
		switch {
		case err == nil:
			won++
		case !errors.Is(err, refusal):
			t.Errorf("%d: error %v", i, err)
		}
	}
	if won != 1 || len(store.orders[1].events) != 1 {
		t.Errorf("%d won, with %d events", won, len(store.orders[1].events))
	}
}

func TestListNormalizesItsFilter(t *testing.T) {
	t.Parallel()
	store := newFakeStore()
	s := newService(store, newFakeFiles())
	filter := order.NewFilter()
	filter.PageSize = 5000
	if _, err := s.List(t.Context(), merchant, filter); err != nil || store.listed.PageSize != order.MaxPageSize {
		t.Errorf("error %v, page size %d", err, store.listed.PageSize)
	}
	filter.From, filter.To = 10, 9
	if _, err := s.List(t.Context(), merchant, filter); !errors.Is(err, order.ErrInvalidRange) || store.calls != 1 {
		t.Errorf("reversed range: error %v, %d calls", err, store.calls)
	}
}

func TestAddMerchant(t *testing.T) {
	t.Parallel()
	store := newFakeStore()
	s := newService(store, newFakeFiles())
	for _, bad := range []order.Merchant{{ID: 0, Name: "a"}, {ID: -1, Name: "a"}, {ID: 1, Name: ""}} {
		if err := s.AddMerchant(t.Context(), bad.ID, bad.Name, order.MerchantOptions{}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if err := s.AddMerchant(t.Context(), merchant, "Shop", order.MerchantOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Merchants(t.Context(), order.MerchantFilter{})
	want := []order.Merchant{{ID: merchant, Name: "Shop", CreatedAt: noonUTC}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, merchants (-want +got):\n%s", err, diff)
	}
}

// TestNextRevision counts changes, and gives another one in the place of a lost one
// another revision.
func TestNextRevision(t *testing.T) {
	t.Parallel()
	revision, seen := int64(0), make(map[int64]bool)
	for changes := range int64(100) {
		lost := order.NextRevision(revision)
		revision = order.NextRevision(revision)
		if revision>>31 != changes+1 || seen[lost] || seen[revision] || lost == revision {
			t.Errorf("revision %d after %d changes, in another history %d", revision, changes, lost)
		}
		seen[lost], seen[revision] = true, true
	}
}
