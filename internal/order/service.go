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

// Revision returns an order's number and revision, or ErrNotFound: enough to
// tell whether somebody has the newest of it.
func (s *Service) Revision(ctx context.Context, merchantID int64, key Key) (number, revision int64, err error) {
	if !key.Valid() {
		return 0, 0, ErrNotFound
	}
	return s.store.Revision(ctx, merchantID, key)
}

// List returns a page of orders, or ErrRange.
func (s *Service) List(ctx context.Context, merchantID int64, filter Filter) (Page, error) {
	if err := filter.Check(); err != nil {
		return Page{}, err
	}
	return s.store.List(ctx, merchantID, filter)
}

// Accept moves a registered order to in-processing for its merchant. Errors,
// beside those of the attempt's key: ErrNotFound, ErrChanged, ErrCannotAccept.
func (s *Service) Accept(ctx context.Context, merchantID int64, key Key, attempt Attempt) (Changed, error) {
	return s.move(ctx, merchantID, key, attempt, step{actor: Merchant, to: InProcessing, refusal: ErrCannotAccept})
}

// Reject moves a registered order to rejected-by-merchant for its merchant.
// Errors, beside those of the attempt's key, in the order in which they are
// looked for: ErrNotFound, ErrChanged, ErrReason, ErrCannotReject.
func (s *Service) Reject(ctx context.Context, merchantID int64, key Key, reason Reason, attempt Attempt) (Changed, error) {
	return s.move(ctx, merchantID, key, attempt,
		step{actor: Merchant, to: RejectedByMerchant, reason: reason, refusal: ErrCannotReject})
}

// Move moves an order for the marketplace, along the moves of decision 2.
// Errors: ErrNotFound, ErrMove.
func (s *Service) Move(ctx context.Context, merchantID int64, key Key, to State) (Head, error) {
	done, err := s.move(ctx, merchantID, key, Attempt{}, step{actor: Operator, to: to, refusal: ErrMove})
	return done.Head, err
}

// step is one change of state that somebody asks for.
type step struct {
	actor   Actor
	to      State
	reason  Reason
	refusal error // of a step that is not legal
}

// move is every change of state there is. Of any number of simultaneous moves
// from one state one wins, since the order stays locked between the look at
// its state and the change.
func (s *Service) move(ctx context.Context, merchantID int64, key Key, attempt Attempt, step step) (Changed, error) {
	if !key.Valid() {
		return Changed{}, s.Refuse(ctx, merchantID, attempt, ErrNotFound)
	}
	return s.change(ctx, merchantID, attempt, func(tx Tx) (Changed, error) {
		head, err := attempt.lock(ctx, tx, merchantID, key)
		if err != nil {
			return Changed{}, err
		}
		if !step.reason.Valid() {
			return Changed{}, ErrReason
		}
		if !step.actor.MayMove(head.State, step.to) {
			return Changed{}, step.refusal
		}
		at := s.Now()
		if err := tx.Move(ctx, head, step.to, at); err != nil {
			return Changed{}, err
		}
		moved := Changed{Head: head}
		moved.State = step.to
		moved.Revision++
		return moved, tx.Append(ctx, head, Event{
			Type: OrderStateChanged, Actor: step.actor, At: at,
			From: head.State, To: step.to, Reason: step.reason,
		})
	})
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
