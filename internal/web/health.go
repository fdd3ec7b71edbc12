package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"merchantorders/internal/order"
)

// readyTimeout bounds the readiness check. A probe that gets no response learns
// less than one that gets a 503.
const readyTimeout = 2 * time.Second

// errProbeRunning says that the check of an earlier probe has not returned.
var errProbeRunning = errors.New("an earlier readiness check is still running")

// The paths of the probes of load balancers.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// HealthRoutes returns the group with the empty prefix, all of it public. /healthz
// says that the process serves. /readyz says whether ready returns nil within 2
// seconds; the reason goes to the log only. /metrics shows the metrics. Every path
// outside the other groups is a 404 of this one.
func HealthRoutes(ready func(context.Context) error, metrics *Metrics) RouteGroup {
	probe := newProbe(ready, readyTimeout)
	metricsHandler := metrics.Handler()
	return RouteGroup{
		Errors: EncodeMessage,
		Routes: []Route{
			PublicRoute(http.MethodGet, healthPath, func(w http.ResponseWriter, _ *http.Request) error {
				return WriteJSON(w, http.StatusOK, health{Status: "ok"})
			}),
			PublicRoute(http.MethodGet, readyPath, probe.handle),
			PublicRoute(http.MethodGet, "/metrics", func(w http.ResponseWriter, r *http.Request) error {
				metricsHandler.ServeHTTP(w, r)
				return nil
			}),
		},
	}
}

// health is the body of a successful probe.
type health struct {
	Status string `json:"status"`
}

// probe runs one readiness check at a time. So nobody can load the database with
// probes, and a check that hangs does not multiply.
type probe struct {
	check   func(context.Context) error
	timeout time.Duration
	running chan struct{} // full while a check runs
}

func newProbe(check func(context.Context) error, timeout time.Duration) *probe {
	return &probe{check: check, timeout: timeout, running: make(chan struct{}, 1)}
}

func (p *probe) handle(w http.ResponseWriter, r *http.Request) error {
	if err := p.run(r.Context()); err != nil {
		return fmt.Errorf("%w: not ready: %w", order.ErrUnavailable, err)
	}
	return WriteJSON(w, http.StatusOK, health{Status: "ready"})
}

// run returns the error of the check, or another error if the check does not
// return in time.
func (p *probe) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	select {
	case p.running <- struct{}{}:
	case <-ctx.Done():
		return errProbeRunning
	}
	result := make(chan error, 1)
	// In a goroutine, because a disk that hangs ignores the context.
	go func() {
		defer func() {
			if v := recover(); v != nil {
				result <- fmt.Errorf("the readiness check panicked: %v", v)
			}
			<-p.running
		}()
		result <- p.check(ctx)
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
