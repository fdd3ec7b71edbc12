package commands

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"merchantorders/internal/app"
	"merchantorders/internal/assistant"
)

type mcpCommand struct{ access }

func (c *mcpCommand) run(ctx context.Context, p *process) error {
	current, err := c.service.CurrentToken(ctx)
	if err != nil {
		return err
	}
	server := assistant.New(c.service, current.Scopes, app.OneLine(app.Version()))
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(p.stdin), Writer: nopCloser{p.stdout}})
	if errors.Is(err, context.Canceled) {
		return nil // stopped, as it is meant to be
	}
	return err
}

// nopCloser is standard output, which stays open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
