package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/tracing"
)

// startTracing starts tracing if the environment variables of OpenTelemetry ask for
// it. Otherwise s.Tracing stays nil, and nothing is wrapped.
func (s *server) startTracing(ctx context.Context) error {
	endpoint, err := tracing.Endpoint(s.Environ)
	if err != nil {
		return UsageError{Err: err}
	}
	if endpoint == "" {
		return nil
	}
	if s.Tracing, err = tracing.Start(ctx, endpoint, Version(), s.log); err != nil {
		return UsageError{Err: err}
	}
	s.log = slog.New(tracing.LogHandler(s.log.Handler()))
	return nil
}

// stopTracing sends the last spans. A collector that cannot be reached does not make
// the server fail.
func (s *server) stopTracing() {
	if s.Tracing == nil {
		return
	}
	if err := s.Tracing.Stop(); err != nil {
		s.log.Warn("spans are lost", "error", err)
	}
}

// observeDatabase is store.Options.Observe: an operation is measured, and traced.
func (s *server) observeDatabase(ctx context.Context, operation string) (context.Context, func(error)) {
	begun := time.Now()
	ctx, end := s.Tracing.Operation(ctx, operation)
	return ctx, func(err error) {
		end(err)
		s.metrics.Database(operation, time.Since(begun))
	}
}

// traceDatabase returns store.Options.Wrap.
func (s *server) traceDatabase() func(sqldb.DB) sqldb.DB {
	if s.Tracing == nil {
		return nil
	}
	engine, _ := s.Engine()
	return func(db sqldb.DB) sqldb.DB { return s.Tracing.Database(db, engine.Name) }
}

// traceTransport returns s3.Bucket.Wrap.
func (o *Opener) traceTransport() func(http.RoundTripper) http.RoundTripper {
	if o.Tracing == nil {
		return nil
	}
	return o.Tracing.Transport
}
