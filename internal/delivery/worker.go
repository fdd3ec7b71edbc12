package delivery

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// Sender brings events to the endpoints of a kind.
type Sender interface {
	// Limits returns the limits of the kind.
	Limits() Limits
	// Send brings the first of some events to the endpoint of a round, or finds that it need
	// not. It is called without any for a page of events that the endpoint does not want.
	Send(ctx context.Context, r *Round, events []order.EventRecord) (Sent, error)
	// Failure returns what is recorded of an endpoint that becomes Failed or Failing, with the
	// word for the reason.
	Failure(c Cursor, word string) Failure
}

// Limits are the limits of a Sender.
type Limits struct {
	Slots  int // to how many endpoints a Worker delivers at once
	Slow   int // how many more, of those that were slow or have failed; 0: none are apart
	Events int // how many events of an endpoint are read at once
}

// Sent is what a Sender has done.
type Sent struct {
	Events  int       // how many of the events, the first ones, are done, or were sent if Result has an error
	Batch   int       // how many of the others are sent as one next; see Cursor
	Result  *Result   // of the attempt; nil: there was none
	Attempt *Attempt  // for the log of deliveries; nil: none
	SentAt  time.Time // see Cursor; zero: unchanged
	Next    time.Time // no attempt before that; zero: at once, or after the pause for the error
}

// Options are what a Worker works with.
type Options struct {
	Store   Store
	Senders map[Kind]Sender // endpoints of other kinds get nothing
	Now     func() time.Time
	Random  func() float64 // from 0 to 1, spreads the pauses
	Log     *slog.Logger

	// The others have defaults.
	Wait  func(failures int) time.Duration // before the next attempt, after so many failures
	Lease time.Duration                    // how long a lease lasts, in whole seconds
	Poll  time.Duration                    // how often the database is asked for due endpoints
}

const (
	// LeaseTime is how long a lease lasts. A request begins in the first second of a
	// lease, and leases end at whole seconds: so the clocks of two instances may differ by
	// LeaseTime - the limit of a request - 2 s.
	LeaseTime = 20 * time.Second
	// pollInterval is how often a Worker looks for endpoints that are due because of
	// time, of events of other instances, or of a request.
	pollInterval = time.Second
	// idlePolls is how many polls are left out while the database tells that nothing
	// was committed, and while there is no endpoint at all: a poll then only finds those
	// that another instance has added, and keeps a connection from becoming idle.
	idlePolls = 5
	// stopTimeout is how long requests in flight may last after the end of Run.
	stopTimeout = 5 * time.Second
)

// Worker delivers events to endpoints. Any number of Workers can work on one store.
type Worker struct {
	Options
	kick chan struct{} // wakes Run

	// Of the polls of Run:
	seen  string // commit version before the last one
	none  bool   // the last one found no endpoint at all
	skips int

	mu        sync.Mutex
	merchants map[int64]bool // with active endpoints, as of the last poll, or Marketplace
	changed   map[int64]bool // of them, those with changes since
	pending   map[Key]bool   // queued or running; true: its merchant has changed since
	slow      map[Key]int    // endpoints that were slow or failed, with the fast deliveries until they are healthy
	lanes     map[Kind]*lanes
}

// NewWorker returns a Worker. Run starts it.
func NewWorker(options Options) *Worker {
	options.Lease = cmp.Or(options.Lease, LeaseTime)
	options.Poll = cmp.Or(options.Poll, pollInterval)
	if options.Wait == nil {
		options.Wait = func(failures int) time.Duration { return pause(failures, options.Random()) }
	}
	w := &Worker{
		Options: options, kick: make(chan struct{}, 1),
		changed: make(map[int64]bool), pending: make(map[Key]bool), slow: make(map[Key]int), lanes: make(map[Kind]*lanes),
	}
	for kind, sender := range options.Senders {
		limits := sender.Limits()
		w.lanes[kind] = &lanes{healthy: newLane(limits.Slots), slow: newLane(limits.Slow)}
	}
	return w
}

// Changed says that a merchant may have new events, and so may the marketplace. It
// returns at once, and does nothing if neither has endpoints.
func (w *Worker) Changed(merchantID int64) {
	w.mu.Lock()
	known := false
	for _, id := range []int64{merchantID, Marketplace} {
		if w.merchants[id] {
			known, w.changed[id] = true, true
		}
	}
	w.mu.Unlock()
	if known {
		w.wake()
	}
}

// Added says that endpoints of a merchant were added or changed.
func (w *Worker) Added(merchantID int64) {
	w.mu.Lock()
	if w.merchants != nil {
		w.merchants[merchantID] = true
	}
	w.mu.Unlock()
	w.Changed(merchantID)
}

func (w *Worker) wake() {
	select {
	case w.kick <- struct{}{}:
	default: // Run will look anyway
	}
}

// Run delivers events until ctx ends. It then begins no request, waits a short time for
// those in flight, and releases its leases.
func (w *Worker) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	ticker := time.NewTicker(w.Poll)
	defer ticker.Stop()
	w.poll(ctx)
	for {
		w.start(ctx, work, &running)
		select {
		case <-ctx.Done():
			timeout := time.AfterFunc(stopTimeout, cancel)
			defer timeout.Stop()
			running.Wait()
			return
		case <-ticker.C:
			w.poll(ctx)
		case <-w.kick:
			w.pollChanged(ctx)
		}
	}
}

// poll queues all endpoints that are due, unless it is not needed.
func (w *Worker) poll(ctx context.Context) {
	version, known := w.Store.CommitVersion() // before the statements
	if (known && version == w.seen || w.none) && w.skips < idlePolls {
		w.skips++
		return
	}
	merchants, err := w.Store.EndpointMerchants(ctx)
	if err == nil {
		w.mu.Lock()
		w.merchants = make(map[int64]bool, len(merchants))
		for _, id := range merchants {
			w.merchants[id] = true
		}
		w.mu.Unlock()
		err = w.queueDue(ctx, nil)
	}
	if err == nil && slices.Contains(merchants, Marketplace) {
		err = w.queueDue(ctx, new(int64(Marketplace)))
	}
	if err != nil {
		w.warn(ctx, "cannot look for webhooks that are due", err)
		return
	}
	w.seen, w.none, w.skips = version, len(merchants) == 0, 0
}

// pollChanged queues the endpoints of merchants with changes.
func (w *Worker) pollChanged(ctx context.Context) {
	w.mu.Lock()
	changed := w.changed
	w.changed = make(map[int64]bool)
	for key, again := range w.pending {
		// It may have read the events already, and is not due while it has the lease.
		w.pending[key] = again || changed[key.MerchantID]
	}
	w.mu.Unlock()
	for id := range changed {
		if err := w.queueDue(ctx, &id); err != nil {
			w.warn(ctx, "cannot look for webhooks that are due", err)
		}
	}
}

func (w *Worker) queueDue(ctx context.Context, merchantID *int64) error {
	due, err := w.Store.DueEndpoints(ctx, merchantID, w.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range due {
		if _, pending := w.pending[d.Key]; pending || w.lanes[d.Kind] == nil {
			continue
		}
		if d.Failing {
			w.slow[d.Key] = fastToRecover
		}
		w.pending[d.Key] = false
		w.enqueue(d.Key)
	}
	return err
}

// pace records how fast a delivery was.
func (w *Worker) pace(key Key, r Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Error != "" || r.Took > slowAfter {
		w.slow[key] = fastToRecover
	} else if w.slow[key]--; w.slow[key] <= 0 {
		delete(w.slow, key)
	}
}

// warn logs an error, unless it comes from the end of Run.
func (w *Worker) warn(ctx context.Context, message string, err error, attrs ...any) {
	if ctx.Err() == nil {
		w.Log.Warn(message, append(attrs, "error", err)...)
	}
}
