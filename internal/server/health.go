package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const (
	// readyTimeout bounds a readiness check. A load balancer that gets no response
	// learns less than one that gets a 503.
	readyTimeout = 2 * time.Second
	// readyInterval is the time between the starts of two checks.
	readyInterval = time.Second
)

// The paths of the probes of load balancers, and of the metrics.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"

	metricsPath = "/metrics"
)

// Readiness says what the service needs to be ready.
type Readiness struct {
	Database, Storage func(context.Context) error
	// StorageRequired says that the service is not ready without the storage. If it
	// is false, /readyz only tells that the storage is unavailable.
	StorageRequired bool
	// Stopping reports whether the server will stop soon. It is then not ready, while
	// it still serves requests; nil: never.
	Stopping func() bool
}

// Health serves the probes of load balancers, and tells the metrics what they see. All
// ports of a server share one.
type Health struct {
	ready             Readiness
	database, storage *probe
}

// NewHealth returns the health of a server.
func NewHealth(ready Readiness) *Health {
	return &Health{ready, &probe{check: ready.Database}, &probe{check: ready.Storage}}
}

// Check returns what is wrong with the database and with the storage, at the latest when
// ctx ends. All who ask share the checks, and at most one a second runs.
func (h *Health) Check(ctx context.Context) (database, storage error) {
	waiting := make(chan error, 1)
	go func() { waiting <- h.storage.result(ctx) }()
	database = h.database.result(ctx)
	return database, <-waiting
}

// Routes returns the group with the empty prefix, all of it public. /healthz says
// that the process serves. /readyz says within 2 seconds whether the service is
// ready; the reason goes to the log only. /metrics shows the metrics, unless they are
// nil. Every path outside the other groups is a 404 of this one.
func (h *Health) Routes(m *metrics.Metrics) web.RouteGroup { return h.routes(m, false) }

// DetailedRoutes is Routes for a port that only operators reach: /readyz also shows
// the reason.
func (h *Health) DetailedRoutes(m *metrics.Metrics) web.RouteGroup { return h.routes(m, true) }

func (h *Health) routes(m *metrics.Metrics, detailed bool) web.RouteGroup {
	group := web.RouteGroup{
		Errors: web.EncodeMessage,
		Routes: []web.Route{
			web.PublicRoute(http.MethodGet, healthPath, func(w http.ResponseWriter, _ *web.Request) error {
				return web.WriteJSON(w, http.StatusOK, health{Status: "ok"})
			}).ForMonitoring(),
			web.PublicRoute(http.MethodGet, readyPath, h.readyHandler(detailed)).WithErrors(encodeNotReady).ForMonitoring(),
		},
	}
	if m != nil {
		handler := m.Handler()
		group.Routes = append(group.Routes, web.PublicRoute(http.MethodGet, metricsPath, func(w http.ResponseWriter, r *web.Request) error {
			handler.ServeHTTP(w, r.Request)
			return nil
		}).ForMonitoring())
	}
	return group
}

// health is the body of a successful probe.
type health struct {
	Status  string  `json:"status"`
	Storage string  `json:"storage,omitempty"` // unavailable, or empty
	Checks  *checks `json:"checks,omitempty"`
}

// checks are the details of a readiness check: checkPassed, or what is wrong.
type checks struct {
	Server   string `json:"server"`
	Database string `json:"database"`
	Storage  string `json:"storage"`
}

const checkPassed = "ok"

// notReady is the body of a 503 of /readyz.
type notReady struct {
	web.MessageBody
	Storage string  `json:"storage,omitempty"` // unavailable, or empty
	Checks  *checks `json:"checks,omitempty"`
}

const storageUnavailable = "unavailable"

// readyError is the error of a service that is not ready. It also has the details.
type readyError struct {
	error
	checks *checks // nil: not for the client
}

// Unwrap returns why the service is not ready.
func (e readyError) Unwrap() error { return e.error }

// encodeNotReady is the ErrorEncoder of /readyz.
func encodeNotReady(r *http.Request, err error) (int, any) {
	status, body := web.EncodeMessage(r, err)
	details, ok := errors.AsType[readyError](err)
	message, plain := body.(web.MessageBody)
	if !ok || !plain {
		return status, body
	}
	unready := notReady{MessageBody: message, Checks: details.checks}
	if errors.Is(err, web.ErrStorage) {
		unready.Storage = storageUnavailable
	}
	return status, unready
}

// readyHandler returns the handler of /readyz.
func (h *Health) readyHandler(detailed bool) web.Handler {
	return func(w http.ResponseWriter, r *web.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		database, storage := h.Check(ctx)
		if storage != nil {
			storage = fmt.Errorf("%w: %w", web.ErrStorage, storage)
		}
		var stopping error
		if h.ready.Stopping != nil && h.ready.Stopping() {
			stopping = web.ErrStopping
		}
		var details *checks
		if detailed {
			details = &checks{Server: described(stopping), Database: described(database), Storage: described(storage)}
		}
		unready := cmp.Or(stopping, database)
		if h.ready.StorageRequired {
			unready = cmp.Or(unready, storage)
		}
		if unready != nil {
			return readyError{fmt.Errorf("%w: not ready: %w", order.ErrUnavailable, unready), details}
		}
		body := health{Status: "ready", Checks: details}
		if storage != nil {
			r.LogError(storage)
			body.Storage = storageUnavailable
		}
		return web.WriteJSON(w, http.StatusOK, body)
	}
}

// described returns the result of a check for people.
func described(err error) string {
	if err == nil {
		return checkPassed
	}
	return err.Error()
}

// probe runs a check, at most one a second and one at a time, and shares its result
// among all who ask. So nobody can load the database with probes, keep others from
// their result, or multiply a check that hangs. Its times are intervals, so it uses
// the system's clock.
type probe struct {
	check func(context.Context) error

	mu      sync.Mutex
	last    *probeRun // nil: none
	running bool      // the check of last has not returned
}

// probeRun is one run of a check.
type probeRun struct {
	started time.Time
	done    chan struct{} // closed when err is set, at the latest after readyTimeout
	err     error
}

// result returns the error of a check that is not older than a second, or is running
// for too long.
func (p *probe) result(ctx context.Context) error {
	run := p.share()
	select {
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// share returns the run to wait for.
func (p *probe) share() *probeRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.last != nil && time.Since(p.last.started) < readyInterval {
		return p.last
	}
	p.last, p.running = &probeRun{started: time.Now(), done: make(chan struct{})}, true
	go p.run(p.last)
	return p.last
}

// run runs the check.
func (p *probe) run(run *probeRun) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	result := make(chan error, 1)
	// In a goroutine, because a disk that hangs ignores the context.
	go func() {
		defer func() {
			if v := recover(); v != nil {
				result <- fmt.Errorf("the readiness check panicked: %v", v)
			}
		}()
		result <- p.check(ctx)
	}()
	select {
	case run.err = <-result:
		p.returned(run)
	case <-ctx.Done():
		run.err = ctx.Err()
		close(run.done)
		<-result
		p.returned(nil)
	}
}

// returned notes that the check has returned. It ends its run unless that is nil.
func (p *probe) returned(run *probeRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	if run != nil {
		close(run.done)
	}
}
