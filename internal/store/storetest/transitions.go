package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var transitionSubjects = []subject{
	{"moves/one of many wins", testOneWins},
	{"moves/a whole life", testWholeLife},
	{"moves/many orders of a merchant", testManyMoves},
	{"moves/what a lock shows", testLock},
	{"moves/an error undoes all", testErrorUndoes},
	{"moves/a panic undoes all", testPanicUndoes},
}

// service has the rules over a store; its files are not to be touched.
func service(store Store, now time.Time) *order.Service {
	return order.NewService(store, nil, func() time.Time { return now }, slog.New(slog.DiscardHandler))
}

// transitionTo moves an order whatever the rules say.
func transitionTo(ctx context.Context, store Store, merchantID, number int64, to order.State, at time.Time) error {
	return inOrder(ctx, store, merchantID, order.ByLegacyID(number), func(tx order.Tx, locked order.LockedOrder) error {
		return tx.Transition(ctx, locked, to, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: at})
	})
}

func testOneWins(f *fixture) {
	for round := range 4 {
		number := f.create(minimal(alpha, "R-"+string(rune('a'+round))))
		at := noon.Add(time.Duration(1+round) * time.Minute)
		services := []*order.Service{service(f.a, at), service(f.b, at)}
		won := make(chan order.State, 32)
		var group sync.WaitGroup
		for i := range 32 {
			group.Go(func() {
				var err error
				s, key, to := services[i%2], order.ByLegacyID(number), order.InProcessing
				if i%4 < 2 {
					_, err = s.Accept(f.Context(), order.CommandFor(alpha), key, order.Options[order.WriteResult]{})
				} else {
					to = order.RejectedByMerchant
					_, err = s.Reject(f.Context(), order.CommandFor(alpha), key, "damaged", order.Options[order.WriteResult]{})
				}
				switch {
				case err == nil:
					won <- to
				case !errors.Is(err, order.ErrCannotAccept) && !errors.Is(err, order.ErrCannotReject):
					f.Errorf("a move failed with %v", err)
				}
			})
		}
		group.Wait()
		close(won)
		if len(won) != 1 {
			f.Fatalf("%d of 32 moves of one order won, want 1", len(won))
		}
		got := f.order(f.a, alpha, order.ByLegacyID(number))
		if got.State != <-won || got.Revision != 2 || !got.UpdatedAt.Equal(at) {
			f.Errorf("order is %v, revision %d, updated at %v; want the winner's state, 2, %v", got.State, got.Revision, got.UpdatedAt, at)
		}
	}
}

func testWholeLife(f *fixture) {
	number := f.create(minimal(alpha, "LIFE"))
	f.create(minimal(alpha, "BYSTANDER"))
	for i, to := range []order.State{
		order.InProcessing, order.ReadyForShipment, order.PickedByCourier, order.DeliveryFailed, order.PickedByCourier,
		order.DeliveredToPickupPoint, order.DeliveredToCustomer, order.ReturnCanceled, order.Completed,
	} {
		at := noon.Add(time.Duration(i) * time.Hour)
		store, other := f.a, f.b
		if i%2 == 1 {
			store, other = f.b, f.a
		}
		if _, err := service(store, at).ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("LIFE"), order.Update{To: to}, order.Options[order.WriteResult]{}); err != nil {
			f.Fatalf("move to %v: %v", to, err)
		}
		want := asRead(minimal(alpha, "LIFE"), number, "Alpha Shop")
		want.State, want.UpdatedAt, want.Revision = to, at, int64(i)+2
		testenv.Equal(f, fmt.Sprintf("after the move to %v", to), want, f.order(other, alpha, order.ByLegacyID(number)))
	}
	if got := f.order(f.a, alpha, order.ByReference("BYSTANDER")); got.Revision != 1 || got.State != order.Registered {
		f.Errorf("another order is %v, revision %d", got.State, got.Revision)
	}
}

func testManyMoves(f *fixture) {
	const orders, movers = 12, 8
	for _, result := range f.add(f.a, numbered(alpha, "R", orders)...) {
		if result.Status != order.Created {
			f.Fatal(result.Reason)
		}
	}
	var group sync.WaitGroup
	for mover := range movers {
		group.Go(func() {
			dice, store := newDice(uint64(mover)), []Store{f.a, f.b}[mover%2]
			for range 25 {
				// Any one may be first; CheckTables runs at the end.
				testenv.Equal(f, "move", nil, transitionTo(f.Context(), store, alpha, 1+dice.Int64N(orders), dice.state(), noon))
			}
		})
	}
	group.Wait()
	var revisions int64
	for number := range int64(orders) {
		revisions += f.order(f.b, alpha, order.ByLegacyID(number+1)).Revision - 1
	}
	testenv.Equal(f, "revisions", movers*25, revisions)
}

func testLock(f *fixture) {
	o := rich(alpha, "HEAD")
	number := f.create(o)
	for i := range 2 {
		testenv.Of(f.reserve(f.a, order.ByLegacyID(number), string(rune('a'+i))+".pdf", noon)).Must(f)
	}
	want := order.LockedOrder{
		MerchantID: alpha, LegacyID: number, Reference: "HEAD", State: o.State, CreatedAt: o.CreatedAt, ExpiresAt: o.ExpiresAt,
		Revision: 1, ActiveInvoices: 2,
	}
	for _, key := range []order.Identifier{order.ByLegacyID(number), order.ByReference("HEAD")} {
		testenv.NoError(f, inOrder(f.Context(), f.b, alpha, key, func(_ order.Tx, got order.LockedOrder) error {
			testenv.Equal(f, fmt.Sprintf("locked by %+v: the next revision counts", key), 2, count(got.NextRevision))
			got.Revision, got.NextRevision = count(got.Revision), 0
			testenv.Equal(f, fmt.Sprintf("locked by %+v", key), want, got)
			return nil
		}))
	}
}

// changeEverything makes every kind of change to an order that a transaction
// can make.
func changeEverything(ctx context.Context, tx order.Tx, locked order.LockedOrder, active int64) error {
	id, err := tx.ReserveInvoice(ctx, locked, order.Invoice{Name: "new.pdf", CreatedAt: noon})
	return errors.Join(err,
		tx.ActivateInvoice(ctx, locked, order.Invoice{ID: id}, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon}),
		tx.DeleteInvoice(ctx, locked, active, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon}),
		tx.Transition(ctx, locked, order.Canceled, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon}))
}

func testErrorUndoes(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	active := f.upload(f.a, key, "old.pdf")
	before := f.tables.rows()
	refusal := errors.New("refused in the end")
	err := inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		testenv.Equal(f, "change", nil, changeEverything(f.Context(), tx, locked, active))
		return refusal
	})
	testenv.Equal(f, "error", refusal, err)
	if errors.Is(err, order.ErrUnavailable) {
		f.Errorf("error %v says that the database is out of reach", err)
	}
	testenv.Equal(f, "tables after an error", before, f.tables.rows())
}

func testPanicUndoes(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	active := f.upload(f.a, key, "old.pdf")
	before := f.tables.rows()
	// More often than there are connections, so that none may be left behind.
	for range 40 {
		func() {
			defer func() {
				if recover() == nil {
					f.Error("the panic did not come through")
				}
			}()
			_ = inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
				testenv.Equal(f, "change", nil, changeEverything(f.Context(), tx, locked, active))
				panic("in the middle")
			})
		}()
	}
	testenv.Equal(f, "tables after a panic", before, f.tables.rows())
	for _, store := range []Store{f.a, f.b} {
		testenv.NoError(f, inOrder(f.Context(), store, alpha, key, func(order.Tx, order.LockedOrder) error { return nil }))
	}
}
