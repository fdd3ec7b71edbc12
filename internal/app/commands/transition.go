package commands

import (
	"context"

	"merchantorders/internal/app"
	"merchantorders/internal/ingest"
)

type transitionCommand struct {
	alwaysValid
	lineResults
	File string `arg:"" name:"file" help:"File of changes, one JSON object a line. - is standard input."`
}

func (c *transitionCommand) run(ctx context.Context, p *process) error {
	input, size, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		return p.runLines(ctx, ingest.Changes(b.Orders, p.caller, ""), input, size, nil, lineWords{
			doing: "changing", rest: "make the rest of the changes", oneRefused: "line changed nothing", manyRefused: "lines changed nothing", results: c.JSON,
		})
	})
}
