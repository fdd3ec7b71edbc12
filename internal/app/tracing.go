package app

import (
	"context"
	"log/slog"
	"net/http"

	httpserver "merchantorders/internal/server"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/tracing"
	"merchantorders/internal/web"
)

// startTracing starts tracing if the environment variables of OpenTelemetry ask for
// it. Otherwise s.tracing stays nil, and nothing is wrapped.
func (s *server) startTracing(ctx context.Context) error {
	settings, err := tracing.Read(s.environ)
	if err != nil {
		return usageError{err}
	}
	if !settings.On() {
		return nil
	}
	if s.tracing, err = tracing.Start(ctx, settings, version(), s.log); err != nil {
		return usageError{err}
	}
	s.log = slog.New(tracing.LogHandler(s.log.Handler()))
	return nil
}

// stopTracing sends the last spans. A collector that cannot be reached does not make
// the server fail.
func (s *server) stopTracing() {
	if s.tracing == nil {
		return
	}
	if err := s.tracing.Stop(); err != nil {
		s.log.Warn("spans are lost", "error", err)
	}
}

// traceDatabase returns store.Options.Wrap.
func (s *server) traceDatabase() func(sqldb.DB) sqldb.DB {
	if s.tracing == nil {
		return nil
	}
	system := "sqlite"
	if _, remote := s.settings.PostgresURL(); remote {
		system = "postgresql"
	}
	return func(db sqldb.DB) sqldb.DB { return s.tracing.Database(db, system) }
}

// traceTransport returns s3.Bucket.Wrap.
func (p *process) traceTransport() func(http.RoundTripper) http.RoundTripper {
	if p.tracing == nil {
		return nil
	}
	return p.tracing.Transport
}

// observe returns the handler of the server that observes requests to next.
func (s *server) observe(next http.Handler, encode web.ErrorEncoder, log web.RequestLog) http.Handler {
	if s.tracing == nil {
		return web.Observe(next, encode, log, s.metrics, s.now)
	}
	log.Finished = s.tracing.Finish
	return s.tracing.Handler(web.Observe(next, encode, log, s.metrics, s.now), httpserver.IsMonitoring)
}
