package commands

import (
	"context"
	"io"

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
		Reload: p.hangups, Reread: c.rereader(p),
	})
}

// rereader returns a function that returns the settings as they are now: the arguments and
// variables are those of the start, except those of --environment-file, and files and
// credentials are read again.
func (c *serveCommand) rereader(p *process) func() (app.Reread, error) {
	path := c.Settings.EnvironmentFile
	var before []string
	if path != "" {
		before, _ = config.ReadEnvironmentFile(path) // what it cannot read, systemd may not have read either
	}
	return func() (app.Reread, error) {
		environ := p.environ
		if path != "" {
			after, err := config.ReadEnvironmentFile(path)
			if err != nil {
				return app.Reread{}, err
			}
			environ = config.Environment(environ, before, after)
		}
		again := &process{Opener: app.Opener{Now: p.Now}, stdout: io.Discard, stderr: io.Discard}
		chosen, err := parse(p.args, again, environ)
		if err != nil {
			return app.Reread{}, again.annotated(err)
		}
		return app.Reread{Settings: again.Settings, Flags: chosen.(*serveCommand).Settings, Sources: again.Sources}, nil
	}
}
