package commands

import (
	"context"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
)

type serveCommand struct {
	withFiles
	Settings config.Serve `embed:""`
}

func (c *serveCommand) check() error { return c.Settings.Check() }

func (c *serveCommand) run(ctx context.Context, p *process) error {
	return app.Serve(ctx, app.ServeOptions{
		Opener: p.Opener, Flags: c.Settings, Environ: p.environ, Warnings: p.warnings, Stdout: p.stdout, Stderr: p.stderr, Wrap: p.wrap,
	})
}
