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
func (s *Service) Get(ctx context.Context, merchantID int64, key Identifier) (Order, error) {
	if !key.Valid() {
		return Order{}, ErrNotFound
	}
	return s.store.Order(ctx, merchantID, key)
}

// Revision returns an order's number and revision, or ErrNotFound: enough to
// tell whether somebody has the newest of it.
func (s *Service) Revision(ctx context.Context, merchantID int64, key Identifier) (number, revision int64, err error) {
	if !key.Valid() {
		return 0, 0, ErrNotFound
	}
	return s.store.Revision(ctx, merchantID, key)
}

// List returns a page of orders, or ErrInvalidRange.
func (s *Service) List(ctx context.Context, merchantID int64, filter Filter) (Page, error) {
	if err := filter.Normalize(); err != nil {
		return Page{}, err
	}
	return s.store.List(ctx, merchantID, filter)
}

// Accept moves a registered order to in-processing for its merchant. Errors,
// beside those of the attempt's key: ErrNotFound, ErrPreconditionFailed, ErrCannotAccept.
func (s *Service) Accept(ctx context.Context, merchantID int64, key Identifier, attempt WriteOptions) (WriteResult, error) {
	return s.move(ctx, merchantID, key, attempt, step{actor: ActorMerchant, to: InProcessing, refusal: ErrCannotAccept})
}

// Reject moves a registered order to rejected-by-merchant for its merchant.
// Errors, beside those of the attempt's key, in the order in which they are
// looked for: ErrNotFound, ErrPreconditionFailed, ErrInvalidReason, ErrCannotReject.
func (s *Service) Reject(ctx context.Context, merchantID int64, key Identifier, reason Reason, attempt WriteOptions) (WriteResult, error) {
	return s.move(ctx, merchantID, key, attempt,
		step{actor: ActorMerchant, to: RejectedByMerchant, reason: reason, refusal: ErrCannotReject})
}

// Transition moves an order for the marketplace, along the moves of decision 2.
// Errors: ErrNotFound, ErrInvalidTransition.
func (s *Service) Transition(ctx context.Context, merchantID int64, key Identifier, to State) (LockedOrder, error) {
	done, err := s.move(ctx, merchantID, key, WriteOptions{}, step{actor: ActorOperator, to: to, refusal: ErrInvalidTransition})
	return done.LockedOrder, err
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
func (s *Service) move(ctx context.Context, merchantID int64, key Identifier, attempt WriteOptions, step step) (WriteResult, error) {
	if !key.Valid() {
		return WriteResult{}, s.RecordRefusal(ctx, merchantID, attempt, ErrNotFound)
	}
	return s.change(ctx, merchantID, attempt, func(tx Tx) (WriteResult, error) {
		head, err := attempt.lock(ctx, tx, merchantID, key)
		if err != nil {
			return WriteResult{}, err
		}
		if !step.reason.Valid() {
			return WriteResult{}, ErrInvalidReason
		}
		if !step.actor.CanTransition(head.State, step.to) {
			return WriteResult{}, step.refusal
		}
		at := s.Now()
		if err := tx.Transition(ctx, head, step.to, at); err != nil {
			return WriteResult{}, err
		}
		moved := WriteResult{LockedOrder: head}
		moved.State = step.to
		moved.Revision++
		return moved, tx.Append(ctx, head, Event{
			Type: OrderStateChanged, Actor: step.actor, At: at,
			From: head.State, To: step.to, Reason: step.reason,
		})
	})
}

// Import takes in a batch of orders, each on its own merits (decision 7), and
// returns an outcome for each.
func (s *Service) Import(ctx context.Context, batch []Incoming) ([]ImportResult, error) {
	return s.store.ImportOrders(ctx, batch, s.Now())
}

// AddMerchant adds a merchant; see Store.AddMerchant.
func (s *Service) AddMerchant(ctx context.Context, id int64, name string) error {
	if id <= 0 {
		return errors.New("a merchant's id is a positive number")
	}
	if problem := MerchantNameProblem(name); problem != "" {
		return errors.New("a merchant's name " + problem)
	}
	return s.store.AddMerchant(ctx, Merchant{ID: id, Name: name, CreatedAt: s.Now()})
}

// Merchants returns every merchant, by id.
func (s *Service) Merchants(ctx context.Context) ([]Merchant, error) {
	return s.store.Merchants(ctx)
}
