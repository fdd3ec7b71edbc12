package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

// Settings say how a Simulator lives.
type Settings struct {
	MerchantID int64
	// Seed decides everything but the times: what is ordered, and what happens to it.
	Seed uint64
	// Rate is how many orders a minute are placed on average.
	Rate float64
	// Speed is how many hours of the marketplace pass in an hour. Deadlines and the
	// work of carriers are that much shorter; the rate is not.
	Speed float64
	// Accept is the share of orders, in percent, that the simulator answers in place
	// of the merchant. Of those it rejects one in ten.
	Accept int
	// Count is how many orders are placed; 0: no limit.
	Count uint64
	// Delay is the time before the first order is placed.
	Delay time.Duration
	// Demo also moves the orders of Prepare on, once the merchant has accepted them.
	Demo bool
	// Observe is called after each change; nil: not called.
	Observe func(at time.Time, reference string, state order.State)
}

// Interval is the time between two steps of a Simulator.
const Interval = time.Second

// Simulator plays the marketplace for one merchant: customers who place and cancel
// orders, carriers who move them on, returns. It works on what the database holds: a
// Simulator that is started again continues with the orders of the one before.
//
// The same settings, started at the same time on the same data, give the same orders
// and the same decisions: each depends on the seed, the reference of the order and the
// number of its changes alone.
type Simulator struct {
	settings Settings
	orders   *order.Service
	prefix   string // of the references of its orders

	after   int64 // number of the newest event that was read
	known   map[string]life
	steps   []step // the earliest first
	last    int64  // number of its newest order
	placed  uint64 // how many orders it has placed itself
	arrival time.Time
}

// life is how far an order has come.
type life struct {
	state   order.State
	changes int // of its state
}

// NewSimulator returns a simulator that works through orders.
func NewSimulator(orders *order.Service, settings Settings) *Simulator {
	return &Simulator{settings: settings, orders: orders, prefix: fmt.Sprintf("SIM%d-", settings.Seed), known: make(map[string]life)}
}

// Step does everything that is due, and reports whether nothing is left to do: the last
// order was placed, and no order waits for anything.
func (s *Simulator) Step(ctx context.Context) (done bool, err error) {
	if err := s.follow(ctx); err != nil {
		return false, err
	}
	if s.left() == 0 && len(s.steps) == 0 {
		return true, nil
	}
	now := s.orders.Now()
	if s.arrival.IsZero() {
		s.arrival = now.Add(s.settings.Delay).Add(s.gap(s.last))
	}
	if err := s.move(ctx, now); err != nil {
		return false, err
	}
	return false, s.place(ctx, now)
}

// left returns how many orders are still to be placed.
func (s *Simulator) left() uint64 {
	if s.settings.Count == 0 {
		return math.MaxUint64
	}
	return s.settings.Count - s.placed
}

// follow reads the events since the last call. They show what the simulator has done
// itself, too: so it also knows what it did before a restart.
func (s *Simulator) follow(ctx context.Context) error {
	for {
		feed, err := s.orders.Events(ctx, s.settings.MerchantID, order.FeedQuery{After: s.after, Limit: order.MaxFeedLimit})
		if err != nil {
			return err
		}
		for _, event := range feed.Events {
			s.after = event.Seq
			if event.To.Valid() {
				s.learn(event)
			}
		}
		if len(feed.Events) < order.MaxFeedLimit {
			return nil
		}
	}
}

// learn plans what happens next to the order of an event.
func (s *Simulator) learn(event order.EventRecord) {
	number, own := strings.CutPrefix(event.Reference, s.prefix)
	demo := s.settings.Demo && strings.HasPrefix(event.Reference, referencePrefix)
	if !own && (!demo || event.Type == order.OrderCreated) {
		return // an order of Prepare waits for the merchant, in any state
	}
	if n, err := strconv.ParseInt(number, 10, 64); own && err == nil {
		s.last = max(s.last, n)
	}
	now := s.known[event.Reference]
	now.state = event.To
	now.changes++
	s.known[event.Reference] = now
	next, ok := s.next(event.Reference, now)
	if !ok {
		delete(s.known, event.Reference) // its life is over
		return
	}
	planned := step{reference: event.Reference, from: now, to: next.to, reason: next.reason, merchant: next.merchant, due: event.At.Add(s.scale(next.after))}
	at, _ := slices.BinarySearchFunc(s.steps, planned, step.compare)
	s.steps = slices.Insert(s.steps, at, planned)
}

// scale returns how long a time of the marketplace takes.
func (s *Simulator) scale(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.settings.Speed)
}

// move makes the transitions that are due. An order that somebody else has moved
// meanwhile is left alone: its event plans what happens then.
func (s *Simulator) move(ctx context.Context, now time.Time) error {
	for len(s.steps) > 0 && !s.steps[0].due.After(now) {
		next := s.steps[0]
		if s.known[next.reference] == next.from {
			if err := s.transition(ctx, next); err != nil {
				return err
			}
		}
		s.steps = s.steps[1:]
	}
	return nil
}

func (s *Simulator) transition(ctx context.Context, next step) error {
	id := order.ByReference(next.reference)
	var err error
	switch {
	case !next.merchant:
		change := order.Update{To: next.to, Reason: next.reason, Correction: s.correction(next)}
		_, err = s.orders.ChangeOrder(ctx, order.Command(), s.settings.MerchantID, id, change, order.Options[order.WriteResult]{})
	case next.to == order.InProcessing:
		_, err = s.orders.Accept(ctx, order.CommandFor(s.settings.MerchantID), id, order.Options[order.WriteResult]{})
	default:
		reason := pick(choices(s.settings.Seed, next.reference, reasonStep), order.Reasons)
		_, err = s.orders.Reject(ctx, order.CommandFor(s.settings.MerchantID), id, reason, order.Options[order.WriteResult]{})
	}
	switch {
	case errors.Is(err, order.ErrInvalidTransition), errors.Is(err, order.ErrNotFound), errors.Is(err, order.ErrCannotAccept), errors.Is(err, order.ErrCannotReject):
		return nil
	case err != nil:
		return fmt.Errorf("move order %s to %s: %w", next.reference, next.to, err)
	}
	s.observe(next.reference, next.to)
	return nil
}

// correction returns what a carrier tells of the order with a transition.
func (s *Simulator) correction(next step) (c order.Correction) {
	switch next.to {
	case order.PickedByCourier:
		ids, codes := shipment(choices(s.settings.Seed, next.reference, shipmentStep), carrierOf(s.settings.Seed, next.reference))
		c.Carrier.ShipmentIDs, c.Carrier.TrackingCodes, c.Carrier.Comments = order.To(ids), order.To(codes), order.To[*string](nil)
	case order.DeliveryFailed:
		comment := notMet
		c.Carrier.Comments = order.To(&comment)
	}
	return c
}

func (s *Simulator) observe(reference string, state order.State) {
	if s.settings.Observe != nil {
		s.settings.Observe(s.orders.Now(), reference, state)
	}
}

// maxBatch is how many orders are placed in one transaction.
const maxBatch = 500

// place imports the orders that customers have placed since the last call. After an
// error the next call places them.
func (s *Simulator) place(ctx context.Context, now time.Time) error {
	var batch []order.Incoming
	arrival, last := s.arrival, s.last
	for ; !arrival.After(now) && uint64(len(batch)) < min(maxBatch, s.left()); arrival = arrival.Add(s.gap(last)) {
		last++
		in, err := ingest.Parse(placed{
			merchantID: s.settings.MerchantID, reference: s.reference(last), seed: s.settings.Seed, state: order.Registered,
			createdAt: arrival.UTC().Truncate(time.Second), hour: s.scale(time.Hour),
		}.document())
		if err != nil {
			return fmt.Errorf("make an order: %w", err)
		}
		batch = append(batch, in)
	}
	if len(batch) == 0 {
		return nil
	}
	results, err := s.orders.Import(ctx, order.Command(), batch)
	if err != nil {
		return err
	}
	for i, result := range results {
		if result.Status != order.Created {
			return fmt.Errorf("order %s is %s: %s; does another simulator use this seed?", batch[i].Order.Reference, result.Status, result.Reason)
		}
		s.observe(batch[i].Order.Reference, order.Registered)
	}
	s.arrival, s.last, s.placed = arrival, last, s.placed+uint64(len(batch))
	return nil
}

func (s *Simulator) reference(n int64) string { return fmt.Sprintf("%s%06d", s.prefix, n) }

// gap returns the time between an order and the next one: half to one and a half of
// the average.
func (s *Simulator) gap(after int64) time.Duration {
	r := choices(s.settings.Seed, s.reference(after), gapStep)
	return time.Duration((0.5 + r.Float64()) / s.settings.Rate * float64(time.Minute))
}

// step is a planned transition. It is made if the order is still as it was planned for.
type step struct {
	reference string
	from      life
	to        order.State
	reason    order.Reason
	merchant  bool // the merchant makes it
	due       time.Time
}

func (s step) compare(other step) int {
	return cmp.Or(s.due.Compare(other.due), strings.Compare(s.reference, other.reference))
}

// hours returns a random time between two numbers of hours.
func hours(r *rand.Rand, from, to int) time.Duration {
	return time.Duration(from)*time.Hour + time.Duration(r.Int64N(int64(to-from)*int64(time.Hour)))
}
