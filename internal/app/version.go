package app

import (
	"context"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

func (*versionCommand) check() error { return nil }

func (*versionCommand) run(_ context.Context, p *process) error {
	return p.say("%s %s %s", programName, version(), runtime.Version())
}

// version is what the Go tool knows of the source that this was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
