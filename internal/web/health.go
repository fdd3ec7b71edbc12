package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"merchantorders/internal/order"
)

// readyTimeout bounds what /readyz waits for: a probe that hangs tells its
// asker less than one that says no.
const readyTimeout = 2 * time.Second

// errBusy says that the check of an earlier probe has not come back.
var errBusy = errors.New("an earlier readiness check still hangs")

// HealthSection returns the section with the empty prefix: /healthz says that
// the process serves, /readyz whether ready returns nil within 2 seconds (the
// reason why not goes to the log only), /metrics shows the figures. All are
// public. Every path outside the other sections is a 404 of this one.
func HealthRoutes(ready func(context.Context) error, figures *Metrics) RouteGroup {
	probe := newProbe(ready, readyTimeout)
	return RouteGroup{
		Errors: EncodeMessage,
		Routes: []Route{
			{Method: http.MethodGet, Path: "/healthz", Access: Public, Handle: healthz},
			{Method: http.MethodGet, Path: "/readyz", Access: Public, Handle: probe.handle},
			{Method: http.MethodGet, Path: "/metrics", Access: Public, Handle: metrics(figures)},
		},
	}
}

// health is the body of a good answer.
type health struct {
	Status string `json:"status"`
}

func healthz(w http.ResponseWriter, _ *http.Request) error {
	return WriteJSON(w, http.StatusOK, health{Status: "ok"})
}

func metrics(figures *Metrics) Handler {
	handler := figures.Handler()
	return func(w http.ResponseWriter, r *http.Request) error {
		handler.ServeHTTP(w, r)
		return nil
	}
}

// probe runs one readiness check at a time, so that nobody can load the
// database by asking, and a check that hangs is not joined by more of them.
type probe struct {
	check func(context.Context) error
	limit time.Duration
	turn  chan struct{} // full while a check runs
}

func newProbe(check func(context.Context) error, limit time.Duration) *probe {
	return &probe{check: check, limit: limit, turn: make(chan struct{}, 1)}
}

func (p *probe) handle(w http.ResponseWriter, r *http.Request) error {
	if err := p.run(r.Context()); err != nil {
		return fmt.Errorf("%w: not ready: %w", order.ErrUnavailable, err)
	}
	return WriteJSON(w, http.StatusOK, health{Status: "ready"})
}

// run returns what the check says, or an error when it does not say it in time.
func (p *probe) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return errBusy
	}
	result := make(chan error, 1)
	// In a goroutine of its own, since a disk that hangs heeds no context.
	go func() {
		defer func() {
			if v := recover(); v != nil {
				result <- fmt.Errorf("the readiness check panicked: %v", v)
			}
			<-p.turn
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
