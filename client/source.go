package client

import "embed"

// Source has the files of this package, from which the service makes a module without its
// dependencies.
//
//go:embed *.go README.md
var Source embed.FS
