package order_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// ignoreSeq compares events without their numbers.
var ignoreSeq = cmpopts.IgnoreFields(order.Event{}, "Seq")

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
		do      func(*order.Service, order.Identifier) (order.LockedOrder, error)
	}
	ctx := t.Context()
	actions := []action{
		{"accept", order.ActorMerchant, order.InProcessing, byMerchant, order.ErrCannotAccept, func(s *order.Service, id order.Identifier) (order.LockedOrder, error) {
			done, err := s.Accept(ctx, order.CommandFor(merchant), id, order.Options[order.WriteResult]{})
			return done.LockedOrder, err
		}},
		{"reject", order.ActorMerchant, order.RejectedByMerchant, byMerchant, order.ErrCannotReject, func(s *order.Service, id order.Identifier) (order.LockedOrder, error) {
			done, err := s.Reject(ctx, order.CommandFor(merchant), id, "damaged", order.Options[order.WriteResult]{})
			return done.LockedOrder, err
		}},
	}
	for _, to := range append(order.States(), 0, 200) {
		actions = append(actions, action{"move", order.ActorOperator, to, byOperator, order.ErrInvalidTransition, func(s *order.Service, id order.Identifier) (order.LockedOrder, error) {
			done, err := s.ChangeOrder(ctx, order.Command(), merchant, id, order.Update{To: to}, order.Options[order.WriteResult]{})
			return done.LockedOrder, err
		}})
	}
	var orders []order.Order
	for _, from := range order.States() {
		for range actions {
			orders = append(orders, numbered(int64(len(orders)+1), from))
		}
	}
	db := newDatabase(t, orders...)
	s := newService(db, nil)
	for i, before := range orders {
		a, from, id := actions[i%len(actions)], before.State, before.LegacyID
		moved, err := a.do(s, order.ByLegacyID(id))
		stored, events := db.order(t, id), db.events(t, id)
		if !a.legal[from.String()+" "+a.to.String()] {
			if !errors.Is(err, a.refusal) || stored.State != from || !stored.UpdatedAt.IsZero() || events != nil {
				t.Errorf("%s to %s from %s: error %v, order %+v", a.name, a.to, from, err, stored)
			}
			continue
		}
		if err != nil || moved.State != a.to || moved.Revision != stored.Revision || changes(stored.Revision) != 1 || stored.State != a.to || stored.UpdatedAt != noonUTC {
			t.Errorf("%s to %s from %s: error %v, returned %+v, order %+v", a.name, a.to, from, err, moved, stored)
		}
		event := order.Event{Type: order.OrderStateChanged, By: order.Caller{Actor: a.actor}, At: noonUTC, From: from, To: a.to}
		if a.name == "reject" {
			event.Reason = "damaged"
		}
		testenv.Equal(t, fmt.Sprintf("%s to %s from %s: events", a.name, a.to, from), []order.Event{event}, events, ignoreSeq)
	}
}

// TestInvalidIdentifiersDoNotReachTheStore: PostgreSQL returns errors for some
// of them.
func TestInvalidIdentifiersDoNotReachTheStore(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), newDatabase(t, sample(order.Registered))
	s := newService(db, nil)
	for _, id := range []order.Identifier{
		{}, order.ByLegacyID(-1), order.ByReference("a\x00"), order.ByReference("\xff"), order.ByReference(".."), order.ByReference("a/b"),
	} {
		_, getErr := s.Get(ctx, merchant, id)
		_, acceptErr := s.Accept(ctx, order.CommandFor(merchant), id, order.Options[order.WriteResult]{})
		_, rejectErr := s.Reject(ctx, order.CommandFor(merchant), id, "whim", order.Options[order.WriteResult]{})
		_, moveErr := s.ChangeOrder(ctx, order.Command(), merchant, id, order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})
		_, uploadErr := s.Upload(ctx, order.CommandFor(merchant), id, "a.exe", order.Content{}, order.Options[order.WriteResult]{})
		_, eventsErr := s.OrderEvents(ctx, merchant, id, order.FeedQuery{Limit: 1})
		for name, err := range map[string]error{"get": getErr, "events": eventsErr, "accept": acceptErr, "reject": rejectErr, "move": moveErr, "upload": uploadErr} {
			testenv.Equal(t, fmt.Sprintf("%s of %+v", name, id), order.ErrNotFound, err)
		}
		testenv.Of(s.DeleteInvoice(ctx, order.CommandFor(merchant), id, 1, order.Options[order.WriteResult]{})).WantError(t, fmt.Sprintf("delete of %+v", id), order.ErrInvoiceNotFound)
		testenv.Equal(t, fmt.Sprintf("calls of the store for %+v", id), 0, db.calls)
	}
}

func TestTransitionIsAtomic(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"InTx", "LockOrder", "Transition", "commit"} {
		db := newDatabase(t, sample(order.Registered))
		db.fail = failing(operation)
		_, err := newService(db, nil).Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})
		testenv.Equal(t, operation+" fails", errBroken, err)
		if o, events := db.order(t, 1), db.events(t, 1); o.State != order.Registered || events != nil {
			t.Errorf("%s fails: the order is %+v, events %+v", operation, o, events)
		}
	}
}

func TestTransactionsAreRetried(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, sample(order.Registered))
	db.rerun = true
	s := newService(db, newFolder(t))
	testenv.Of(s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})).Must(t)
	_, invoice, err := upload(t, s, "a.pdf", "bytes")
	testenv.NoError(t, err)
	if done, err := s.DeleteInvoice(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), invoice.ID, order.Options[order.WriteResult]{}); err != nil || len(done.Invoices) != 0 {
		t.Errorf("delete: %v, left %v", err, done.Invoices)
	}
	if events, slots := db.events(t, 1), db.slots(t, 1); len(events) != 3 || slots != 0 {
		t.Errorf("events %+v, %d slots used", events, slots)
	}
}

// TestNextRevision counts changes, and gives another one in the place of a lost one
// another revision.
// Proves decision 5 (events: history).
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
