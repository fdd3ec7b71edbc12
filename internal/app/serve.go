package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"merchantorders/internal/config"
	"merchantorders/internal/demo"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

type serveCommand struct {
	Settings serveFlags `embed:""`
}

// Help is what --help adds.
func (*serveCommand) Help() string {
	return `v1 is served below /api, v2 below /v2, invoice files below /storage, pages to read at /docs; /healthz, /readyz and /metrics are for those who watch over it. The address is printed on standard output when it is open; the log goes to standard error, one JSON object a line. SIGTERM or SIGINT stops it: requests under way are finished, for 10 seconds at most.

Examples:

    merchant-orders serve --demo
    merchant-orders serve --data /var/lib/merchant-orders --base-url https://orders.example.com`
}

func (c *serveCommand) check() error { return config.Serve(c.Settings).Validate() }

func (c *serveCommand) run(ctx context.Context, p *process) error {
	err := c.serve(ctx, p)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// It was stopped before it had begun.
		return nil
	}
	return err
}

// serve opens what a server works on, serves, and closes it again.
func (c *serveCommand) serve(ctx context.Context, p *process) error {
	p.collectLess()
	p.runMore()
	lines := newLogWriter(p.stderr)
	defer lines.close()
	s := &server{
		process: p, flags: config.Serve(c.Settings), figures: web.NewMetrics(),
		log: slog.New(web.NewLogHandler(lines, p.settings.Level())),
	}
	made, err := p.makeFolder()
	if err != nil {
		return err
	}
	lock, alone, err := lockFolder(ctx, p.settings.LockPath())
	if err != nil {
		return err
	}
	if s.backend, err = p.open(ctx, s.log, s.figures.Database); err != nil {
		return errors.Join(err, lock.release())
	}
	if made != "" {
		s.log.Info("data folder made", "path", made)
	}
	if err = s.prepare(ctx, lock, alone); err == nil {
		err = s.listen(ctx)
	}
	return errors.Join(err, s.backend.close(), lock.release())
}

// server is one run of serve.
type server struct {
	*process
	*backend
	flags   config.Serve
	log     *slog.Logger
	figures *web.Metrics
}

// prepare cleans up what servers that did not end in order have left, and lets
// further ones in. alone says that no other server works on the same lock: all
// drafts are left over then, and, unless servers elsewhere share the database,
// all unfinished uploads, whatever their time, also if a clock ran ahead.
func (s *server) prepare(ctx context.Context, lock *folderLock, alone bool) error {
	before, future := s.now().Add(-order.ReservationTimeout), s.now().AddDate(1, 0, 0)
	if alone {
		if err := s.files.RemoveStagedFiles(future); err != nil {
			return fmt.Errorf("clean up after the last server: %w", err)
		}
		if _, shared := s.settings.PostgresURL(); !shared {
			before = future
		}
	}
	if err := s.sweep(ctx, before, s.log); err != nil {
		return fmt.Errorf("clean up after the last server: %w", err)
	}
	if !alone {
		return nil
	}
	return lock.share(ctx)
}

// listen makes the demo where one is asked for, opens the port when all else
// is ready, and serves until ctx ends.
func (s *server) listen(ctx context.Context) error {
	var made demo.Result
	if s.flags.Demo {
		var err error
		if made, err = demo.Prepare(ctx, s.orders, s.now()); err != nil {
			return fmt.Errorf("make the demo: %w", err)
		}
	}
	listener, err := net.Listen("tcp", s.flags.Listen)
	if err != nil {
		return err
	}
	bound := listener.Addr()
	baseURL, storageURL := s.settings.Addresses(bound)
	if s.flags.Demo {
		if err := s.showDemo(ctx, made, baseURL); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if err := s.say("Merchant Orders listens on %s", config.LocalURL(bound)); err != nil {
		s.log.Warn("standard output cannot be written to", "error", err)
	}
	s.log.Info("listening", "address", bound.String(), "base_url", baseURL, "storage_url", storageURL, "version", version())
	stop := s.startChores(s.now, s.log)
	defer stop()
	// A stop waits for requests under way; those that wait for events end at once.
	defer context.AfterFunc(ctx, s.orders.StopWaiting)()
	return web.Serve(ctx, listener, s.handler(baseURL, storageURL), s.log)
}
