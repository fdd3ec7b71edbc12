package app

import (
	"context"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

func (*versionCommand) check() error { return nil }

func (*versionCommand) run(_ context.Context, p *process) error {
	return p.print("%s %s %s", programName, version(), runtime.Version())
}

// version returns the version that the Go tool recorded in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
