package order

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Service holds the rules. It keeps no state of its own but for who waits for
// events, so that any number of services may work over one store.
type Service struct {
	store Store
	watch *watch
	files Files
	now   func() time.Time
	log   *slog.Logger
}

// NewService returns the service over a store and a place for files. now is
// the clock; log gets what nobody waits for: what the sweeper finds and what
// could not be cleaned up.
func NewService(store Store, files Files, now func() time.Time, log *slog.Logger) *Service {
	watch := newWatch(store.NewestEvent)
	return &Service{store: wakingStore{store, watch}, watch: watch, files: files, now: now, log: log}
}

// Now returns the service's clock, in whole seconds of UTC.
func (s *Service) Now() time.Time { return s.now().UTC().Truncate(time.Second) }

// Get returns one whole order, or ErrNotFound.
func (s *Service) Get(ctx context.Context, merchantID int64, key Key) (Order, error) {
	if !key.Valid() {
		return Order{}, ErrNotFound
	}
	return s.store.Order(ctx, merchantID, key)
}

// List returns a page of orders, or ErrRange.
func (s *Service) List(ctx context.Context, merchantID int64, filter Filter) (Page, error) {
	if err := filter.Check(); err != nil {
		return Page{}, err
	}
	return s.store.List(ctx, merchantID, filter)
}

// Accept moves a registered order to in-processing for its merchant. Errors:
// ErrNotFound, ErrCannotAccept.
func (s *Service) Accept(ctx context.Context, merchantID int64, key Key) (Head, error) {
	return s.move(ctx, merchantID, key, Merchant, InProcessing, "", ErrCannotAccept)
}

// Reject moves a registered order to rejected-by-merchant for its merchant.
// Errors, in the order in which they are looked for: ErrNotFound, ErrReason,
// ErrCannotReject.
func (s *Service) Reject(ctx context.Context, merchantID int64, key Key, reason Reason) (Head, error) {
	return s.move(ctx, merchantID, key, Merchant, RejectedByMerchant, reason, ErrCannotReject)
}

// Move moves an order for the marketplace, along the moves of decision 2.
// Errors: ErrNotFound, ErrMove.
func (s *Service) Move(ctx context.Context, merchantID int64, key Key, to State) (Head, error) {
	return s.move(ctx, merchantID, key, Operator, to, "", ErrMove)
}

// move is every change of state there is. Of any number of simultaneous moves
// from one state one wins, since the order stays locked between the look at
// its state and the change. refusal is the error of a move that is not legal.
func (s *Service) move(ctx context.Context, merchantID int64, key Key, actor Actor, to State, reason Reason, refusal error) (Head, error) {
	if !key.Valid() {
		return Head{}, ErrNotFound
	}
	var moved Head
	err := s.store.InTx(ctx, func(tx Tx) error {
		head, err := tx.LockOrder(ctx, merchantID, key)
		if err != nil {
			return err
		}
		if !reason.Valid() {
			return ErrReason
		}
		if !actor.MayMove(head.State, to) {
			return refusal
		}
		at := s.Now()
		if err := tx.Move(ctx, head, to, at); err != nil {
			return err
		}
		moved = head
		moved.State = to
		return tx.Append(ctx, head, Event{
			Type: OrderStateChanged, Actor: actor, At: at,
			From: head.State, To: to, Reason: reason,
		})
	})
	return moved, err
}

// Add takes in a batch of orders, each on its own merits (decision 7), and
// returns an outcome for each.
func (s *Service) Add(ctx context.Context, batch []Incoming) ([]Outcome, error) {
	return s.store.AddOrders(ctx, batch, s.Now())
}

// AddMerchant adds a merchant; see Store.AddMerchant.
func (s *Service) AddMerchant(ctx context.Context, id int64, name string) error {
	if id <= 0 {
		return errors.New("a merchant's id is a positive number")
	}
	if problem := MerchantNameProblem(name); problem != "" {
		return errors.New("a merchant's name " + problem)
	}
	return s.store.AddMerchant(ctx, MerchantRecord{ID: id, Name: name, CreatedAt: s.Now()})
}

// Merchants returns every merchant, by id.
func (s *Service) Merchants(ctx context.Context) ([]MerchantRecord, error) {
	return s.store.Merchants(ctx)
}
