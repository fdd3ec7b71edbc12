package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Options are what a Sender works with.
type Options struct {
	Store   Store
	Poster  Poster
	Encoder Encoder
	Now     func() time.Time
	Random  func() float64 // from 0 to 1, spreads the pauses
	Log     *slog.Logger
	Mailer  Mailer // nil: e-mail addresses get nothing
	Texts   MailTexts

	// The others have defaults.
	Wait    func(failures int) time.Duration // before the next attempt, after so many failures
	Attempt time.Duration                    // limit of one request to a webhook
	Lease   time.Duration                    // how long a lease lasts, in whole seconds
	Poll    time.Duration                    // how often the database is asked for due endpoints
	Lanes   [2]int                           // slots: see maxHealthy and maxSlow
}

const (
	// leaseTime is how long a lease lasts. A request begins in the first second of a
	// lease, and leases end at whole seconds: so the clocks of two instances may differ by
	// leaseTime - attemptTimeout - 2 s.
	leaseTime = 20 * time.Second
	// attemptTimeout bounds one request to an endpoint.
	attemptTimeout = 10 * time.Second
	// pollInterval is how often a Sender looks for endpoints that are due because of
	// time, of events of other instances, or of a request.
	pollInterval = time.Second
	// idlePolls is how many polls are left out while the database tells that nothing
	// was committed, and while there is no webhook at all: a poll then only finds those
	// that another instance has added, and keeps a connection from becoming idle.
	idlePolls = 5
	// stopTimeout is how long requests in flight may last after the end of Run.
	stopTimeout = 5 * time.Second
)

// Sender delivers events to endpoints. Any number of Senders can work on one store.
type Sender struct {
	Options
	kick chan struct{} // wakes Run

	mu        sync.Mutex
	merchants map[int64]bool // with active endpoints, as of the last poll, or Marketplace
	changed   map[int64]bool // of them, those with changes since
	pending   map[Key]bool   // queued or running; true: its merchant has changed since
	slow      map[Key]int    // endpoints that were slow or failed, with the fast deliveries until they are healthy
	healthy   lane
	unhealthy lane // of those in slow
	mails     lane // of e-mail addresses
	inFlight  int  // requests
	results   map[string]uint64
}

// NewSender returns a Sender. Run starts it.
func NewSender(options Options) *Sender {
	options.Attempt = cmp.Or(options.Attempt, attemptTimeout)
	options.Lease = cmp.Or(options.Lease, leaseTime)
	options.Poll = cmp.Or(options.Poll, pollInterval)
	if options.Wait == nil {
		options.Wait = func(failures int) time.Duration { return pause(failures, options.Random()) }
	}
	return &Sender{
		Options: options, kick: make(chan struct{}, 1),
		changed: make(map[int64]bool), pending: make(map[Key]bool), slow: make(map[Key]int),
		healthy: newLane(cmp.Or(options.Lanes[0], maxHealthy)), unhealthy: newLane(cmp.Or(options.Lanes[1], maxSlow)), mails: newLane(maxMails),
		results: noResults(),
	}
}

// acknowledged is the result of a delivery without an error.
const acknowledged = "acknowledged"

// noResults returns counts of 0 for all results, so that each metric exists from the
// start.
func noResults() map[string]uint64 {
	counts := map[string]uint64{acknowledged: 0}
	for _, name := range Errors {
		counts[name] = 0
	}
	return counts
}

// Changed says that a merchant may have new events, and so may the marketplace. It
// returns at once, and does nothing if neither has endpoints.
func (s *Sender) Changed(merchantID int64) {
	s.mu.Lock()
	known := false
	for _, id := range []int64{merchantID, Marketplace} {
		if s.merchants[id] {
			known, s.changed[id] = true, true
		}
	}
	s.mu.Unlock()
	if known {
		s.wake()
	}
}

// Added says that endpoints of a merchant were added or changed.
func (s *Sender) Added(merchantID int64) {
	s.mu.Lock()
	if s.merchants != nil {
		s.merchants[merchantID] = true
	}
	s.mu.Unlock()
	s.Changed(merchantID)
}

func (s *Sender) wake() {
	select {
	case s.kick <- struct{}{}:
	default: // Run will look anyway
	}
}

// Run delivers events until ctx ends. It then begins no request, waits a short time for
// those in flight, and releases its leases.
func (s *Sender) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	ticker := time.NewTicker(s.Poll)
	defer ticker.Stop()
	p := poller{sender: s}
	p.poll(ctx)
	for {
		s.start(ctx, work, &running)
		select {
		case <-ctx.Done():
			timeout := time.AfterFunc(stopTimeout, cancel)
			defer timeout.Stop()
			running.Wait()
			return
		case <-ticker.C:
			p.poll(ctx)
		case <-s.kick:
			s.pollChanged(ctx)
		}
	}
}

// poller decides which polls are needed.
type poller struct {
	sender *Sender
	seen   string // commit version before the last poll
	none   bool   // the last poll found no webhook at all
	skips  int
}

// poll queues all endpoints that are due.
func (p *poller) poll(ctx context.Context) {
	s := p.sender
	version, known := s.Store.CommitVersion() // before the statements
	if (known && version == p.seen || p.none) && p.skips < idlePolls {
		p.skips++
		return
	}
	merchants, err := s.Store.WebhookMerchants(ctx)
	if err == nil {
		s.mu.Lock()
		s.merchants = make(map[int64]bool, len(merchants))
		for _, id := range merchants {
			s.merchants[id] = true
		}
		s.mu.Unlock()
		err = s.queueDue(ctx, nil)
	}
	if err == nil && slices.Contains(merchants, Marketplace) {
		err = s.queueDue(ctx, new(int64(Marketplace)))
	}
	if err != nil {
		s.warn(ctx, "cannot look for webhooks that are due", err)
		return
	}
	p.seen, p.none, p.skips = version, len(merchants) == 0, 0
}

// pollChanged queues the endpoints of merchants with changes.
func (s *Sender) pollChanged(ctx context.Context) {
	s.mu.Lock()
	changed := s.changed
	s.changed = make(map[int64]bool)
	for key, again := range s.pending {
		// It may have read the events already, and is not due while it has the lease.
		s.pending[key] = again || changed[key.MerchantID]
	}
	s.mu.Unlock()
	for id := range changed {
		if err := s.queueDue(ctx, &id); err != nil {
			s.warn(ctx, "cannot look for webhooks that are due", err)
		}
	}
}

func (s *Sender) queueDue(ctx context.Context, merchantID *int64) error {
	due, err := s.Store.DueWebhooks(ctx, merchantID, s.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range due {
		if _, pending := s.pending[d.Key]; pending || d.Mail && s.Mailer == nil {
			continue
		}
		if d.Failing && !d.Mail {
			s.slow[d.Key] = fastToRecover
		}
		s.pending[d.Key] = false
		s.enqueue(d.Key)
	}
	return err
}

// record counts a delivery.
func (s *Sender) record(key Key, r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[cmp.Or(r.Error, acknowledged)]++
	if r.Error != "" || r.Took > slowAfter {
		s.slow[key] = fastToRecover
	} else if s.slow[key]--; s.slow[key] <= 0 {
		delete(s.slow, key)
	}
}

// Stats returns the number of deliveries by result, and the requests in flight.
func (s *Sender) Stats() (results map[string]uint64, inFlight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.results), s.inFlight
}

// warn logs an error, unless it comes from the end of Run.
func (s *Sender) warn(ctx context.Context, message string, err error, attrs ...any) {
	if ctx.Err() == nil {
		s.Log.Warn(message, append(attrs, "error", err)...)
	}
}
