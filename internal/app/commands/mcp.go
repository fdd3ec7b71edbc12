package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"merchantorders/client"
	"merchantorders/internal/app"
	"merchantorders/internal/assistant"
)

type mcpCommand struct{ access }

func (c *mcpCommand) run(ctx context.Context, p *process) error {
	current, err := c.service.CurrentToken(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(current.Scopes, "orders:read") { // also an answer needs it: for the tag of the order
		return fmt.Errorf("%w: it lacks the scope orders:read, which every tool needs", client.ErrForbidden)
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
