package commands

import (
	"context"

	"merchantorders/internal/app"
)

type versionCommand struct {
	alwaysValid
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *versionCommand) run(_ context.Context, p *process) error {
	b := app.ThisBuild()
	return p.printResult(c.JSON, b, "%s %s %s %s, commit %s of %s", programName, b.Version, b.Go, b.Platform, b.Commit, b.Date)
}
