package app

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"sync"
)

// sourceVersion is the version of the sources: the newest in CHANGELOG.md.
const sourceVersion = "v1.1.0"

// The linker sets these in a release; see scripts/release. The date is that of
// the commit, in RFC 3339.
var releaseVersion, releaseCommit, releaseDate string

// Build says what the program was built from. A text is "unknown" if the Go tool
// recorded nothing.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns what this program was built from.
var ThisBuild = sync.OnceValue(func() Build {
	const unknown = "unknown"
	b := Build{cmp.Or(releaseVersion, sourceVersion), releaseCommit, releaseDate, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, setting.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, setting.Value)
			}
		}
	}
	b.Commit, b.Date = cmp.Or(b.Commit, unknown), cmp.Or(b.Date, unknown)
	return b
})

// Version returns the version of the program.
func Version() string { return ThisBuild().Version }
