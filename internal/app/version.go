package app

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
	"sync"
)

// The linker sets these in a release; see scripts/release. The date is that of
// the commit, in RFC 3339.
var releaseVersion, releaseCommit, releaseDate string

// build says what the program was built from. A text is "unknown" if the Go tool
// recorded nothing.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild returns what this program was built from.
var thisBuild = sync.OnceValue(func() build {
	const unknown = "unknown"
	b := build{releaseVersion, releaseCommit, releaseDate, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, setting.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, setting.Value)
			}
		}
	}
	b.Version, b.Commit, b.Date = cmp.Or(b.Version, unknown), cmp.Or(b.Commit, unknown), cmp.Or(b.Date, unknown)
	return b
})

// version returns the version of the program.
func version() string { return thisBuild().Version }

type versionCommand struct {
	alwaysValid
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *versionCommand) run(_ context.Context, p *process) error {
	b := thisBuild()
	if c.JSON {
		return p.printJSON(b)
	}
	return p.print("%s %s %s %s, commit %s of %s", programName, b.Version, b.Go, b.Platform, b.Commit, b.Date)
}
