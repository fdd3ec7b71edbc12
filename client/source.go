package client

import "embed"

// Source has the source files of this package, from which the service makes a module
// without its dependencies.
//
//go:embed *.go
var Source embed.FS
