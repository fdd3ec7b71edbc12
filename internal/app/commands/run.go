// Package commands is the command line: it parses flags, environment variables and the
// settings file, and runs one command, which package app opens the backend for. A file
// has one command, or those of a group.
//
// It contains no rules of the domain and no SQL. It never exits: Run returns the exit
// code, so that tests run the same code as the program.
package commands

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"merchantorders/client"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
)

// programName is the prefix of every error line.
const programName = "merchant-orders"

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the command failed, at least in part
	exitUsage  = 2 // invalid usage or settings, also a database or storage that cannot be opened; nothing was done

	// Exit codes of the commands that call a service.
	exitNotFound     = 3 // no such order or invoice file
	exitRefused      = 4 // the service refused the request
	exitUnauthorized = 5 // the token is not valid, or does not allow the request
	exitUnavailable  = 6 // the service cannot be reached, or asks to retry later; also the database or the bucket that serve has waited for

	exitSourceChanged = 7 // of copy: complete, but the source changed meanwhile
)

// process is the environment of a command.
type process struct {
	app.Opener
	warnings       []string // about the command line
	caller         order.Caller
	flags          config.Serve // of the service that a command runs
	stdin          io.Reader
	stdout, stderr io.Writer
	wrap           func(http.Handler) http.Handler
	args           []string
	environ        []string
	hangups        <-chan os.Signal // of SIGHUP; nil: none
	nohup          bool             // SIGHUP stops no command
	model          *kong.Node       // all commands and flags
}

// Option changes how a command runs.
type Option func(*process)

// WrapHandler adds the outermost middleware of a server. It sees each request and
// response as it is on the wire.
func WrapHandler(wrap func(http.Handler) http.Handler) Option {
	return func(p *process) { p.wrap = wrap }
}

// Hangups gives serve the channel of SIGHUP, by which it is asked for a reload. Other commands
// stop, unless the signal was ignored at the start of the process, as by nohup.
func Hangups(hangups chan os.Signal, ignored bool) Option {
	return func(p *process) { p.hangups, p.nohup = hangups, ignored }
}

// untilHangup returns a context that ends with SIGHUP too, if that is to stop a command.
func (p *process) untilHangup(ctx context.Context, chosen command) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if _, reloads := chosen.(*serveCommand); !reloads && !p.nohup && p.hangups != nil {
		go func() {
			select {
			case <-p.hangups:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// Run runs the command in args, which do not include the program's name, and
// returns the exit code: 0 done, 1 failed, 2 invalid settings or usage. Commands
// that call a service also return 3 not found, 4 refused, 5 not authorized, 6
// unavailable, also serve that has waited in vain, and copy 7 if the source changed.
// environ has the environment variables, like os.Environ. When ctx
// ends, a server shuts down gracefully, and every other command stops as soon
// as it can.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string, options ...Option) int {
	p := &process{
		Opener: app.Opener{Now: time.Now}, stdin: stdin, stdout: stdout, stderr: stderr, args: usual(args), environ: environ,
		wrap: func(h http.Handler) http.Handler { return h },
	}
	for _, option := range options {
		option(p)
	}
	chosen, err := parse(p.args, p, environ)
	ctx, cancel := p.untilHangup(ctx, chosen)
	defer cancel()
	if err == nil && chosen != nil {
		p.printWarnings(chosen)
		err = p.run(ctx, chosen)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("stopped before the end")
	}
	if err == nil {
		return exitDone
	}
	for line := range strings.Lines(p.annotated(err).Error()) {
		p.printError("%s", line)
	}
	return exitCode(err)
}

// usual returns the arguments with the commands that people type by habit.
func usual(args []string) []string {
	if len(args) == 0 {
		return args
	}
	switch args[0] {
	case "--version", "-v":
		return append([]string{"version"}, args[1:]...)
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// printWarnings prints the warnings about the command line, unless the command has
// another place for them.
func (p *process) printWarnings(chosen command) {
	switch chosen.(type) {
	case *serveCommand, *doctorCommand:
		return
	}
	for _, warning := range p.warnings {
		p.printError("warning: %s", warning)
	}
}

// exitCodes are the exit codes of errors of a service, and of copy.
var exitCodes = []struct {
	code  int
	kinds []error
}{
	{exitUsage, []error{client.ErrInvalidParams}},
	{exitNotFound, []error{client.ErrNotFound, client.ErrInvoiceNotFound, client.ErrTokenNotFound}},
	{exitRefused, []error{
		client.ErrCannotAccept, client.ErrCannotReject, client.ErrInvalidReason, client.ErrInvalidAction, client.ErrInvalidPayload,
		client.ErrTooManyFiles, client.ErrFileType, client.ErrFileTooBig, client.ErrPrecondition, client.ErrKeyReused,
		client.ErrHistoryChanged, client.ErrRefused,
	}},
	{exitUnauthorized, []error{client.ErrUnauthorized, client.ErrForbidden}},
	{exitSourceChanged, []error{errSourceChanged}},
	{exitUnavailable, []error{client.ErrTransport, client.ErrUnavailable, client.ErrRateLimited, client.ErrInProgress}},
}

// exitCode returns the exit code for an error of a command.
func exitCode(err error) int {
	if _, waited := errors.AsType[app.NotReadyError](err); waited {
		return exitUnavailable
	}
	if _, usage := errors.AsType[app.UsageError](err); usage {
		return exitUsage
	}
	for _, row := range exitCodes {
		if slices.ContainsFunc(row.kinds, func(kind error) bool { return errors.Is(err, kind) }) {
			return row.code
		}
	}
	return exitFailed
}
