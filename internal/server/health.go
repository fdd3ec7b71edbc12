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
	database, storage *Shared[struct{}]
}

// NewHealth returns the health of a server.
func NewHealth(ready Readiness) *Health {
	return &Health{ready, newProbe(ready.Database), newProbe(ready.Storage)}
}

// Check returns what is wrong with the database and with the storage, at the latest when
// ctx ends. All who ask share the checks, and at most one a second runs.
func (h *Health) Check(ctx context.Context) (database, storage error) {
	var both sync.WaitGroup
	both.Go(func() { _, storage = h.storage.Get(ctx) })
	_, database = h.database.Get(ctx)
	both.Wait()
	return database, storage
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

// newProbe returns a check that runs at most once a second. Its times are intervals, so it uses
// the system's clock.
func newProbe(check func(context.Context) error) *Shared[struct{}] {
	return &Shared[struct{}]{
		Read: func(ctx context.Context) (_ struct{}, err error) {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("the readiness check panicked: %v", v)
				}
			}()
			return struct{}{}, check(ctx)
		},
		Interval: readyInterval, Timeout: readyTimeout, Now: time.Now, Stopped: context.Background(),
	}
}
