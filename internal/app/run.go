package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"merchantorders/internal/config"
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
	exitUnavailable  = 6 // the service cannot be reached, or asks to retry later
)

// process is the environment of a command.
type process struct {
	settings       config.Config
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	wrap           func(http.Handler) http.Handler
	lookupEnv      func(string) (string, bool)
}

// Option changes how a command runs.
type Option func(*process)

// WrapHandler adds the outermost middleware of a server. It sees each request and
// response as it is on the wire.
func WrapHandler(wrap func(http.Handler) http.Handler) Option {
	return func(p *process) { p.wrap = wrap }
}

// Run runs the command in args, which do not include the program's name, and
// returns the exit code: 0 done, 1 failed, 2 invalid settings or usage. Commands
// that call a service also return 3 not found, 4 refused, 5 not authorized, 6
// unavailable. lookupEnv returns an environment variable like os.LookupEnv. When
// ctx ends, a server shuts down gracefully, and every other command stops as soon
// as it can.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool), options ...Option) int {
	p := &process{
		stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now,
		wrap:      func(h http.Handler) http.Handler { return h },
		lookupEnv: lookupEnv,
	}
	for _, option := range options {
		option(p)
	}
	chosen, err := parse(args, p, lookupEnv)
	if err == nil && chosen != nil {
		err = chosen.run(ctx, p)
	}
	if err == nil {
		return exitDone
	}
	for line := range strings.Lines(err.Error()) {
		p.printError("%s", line)
	}
	return exitCode(err)
}

// printError writes one line to standard error.
func (p *process) printError(format string, args ...any) {
	// There is nowhere to report a failure.
	_, _ = fmt.Fprintf(p.stderr, "%s: %s\n", programName, oneLine(fmt.Sprintf(format, args...)))
}

// print writes one line to standard output.
func (p *process) print(format string, args ...any) error {
	_, err := fmt.Fprintf(p.stdout, format+"\n", args...)
	return err
}

// printJSON writes a value as one line of JSON to standard output.
func (p *process) printJSON(value any) error {
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// oneLine makes untrusted text safe for a terminal: it replaces line ends and
// control characters by spaces.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		// Also direction marks, which can disguise a text.
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
}
