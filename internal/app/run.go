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

// programName begins every line of error.
const programName = "merchant-orders"

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the command could not do all that it was asked to
	exitUsage  = 2 // wrong usage, or settings that are wrong or name what cannot be opened; nothing was done

	// Of the commands that call a service.
	exitNotFound     = 3 // no such order or invoice file
	exitRefused      = 4 // a rule does not allow it
	exitUnauthorized = 5 // the token is not valid, or not for this
	exitUnavailable  = 6 // the service is out of reach, or says to come back later
)

// process is what a command works with.
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

// WrapHandler puts a handler around that of a server, outside of everything
// else: what passes through it is what goes over the wire.
func WrapHandler(wrap func(http.Handler) http.Handler) Option {
	return func(p *process) { p.wrap = wrap }
}

// Run runs the command that args, without the program's name, ask for, and
// returns the exit code: 0 done, 1 failed, 2 wrong settings or usage, and of
// commands that call a service 3 not found, 4 refused by a rule, 5 not
// authorised, 6 out of reach. lookupEnv
// gives an environment variable, as os.LookupEnv does. When ctx ends, a server
// stops gracefully, and every other command as soon as it can.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool), options ...Option) int {
	p := &process{
		stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now,
		wrap:      func(served http.Handler) http.Handler { return served },
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

// complain writes one line to standard error.
func (p *process) printError(format string, args ...any) {
	// There is nowhere left to say that this failed.
	_, _ = fmt.Fprintf(p.stderr, "%s: %s\n", programName, oneLine(fmt.Sprintf(format, args...)))
}

// say writes one line to standard output.
func (p *process) print(format string, args ...any) error {
	_, err := fmt.Fprintf(p.stdout, format+"\n", args...)
	return err
}

// sayJSON writes a value as one line of JSON to standard output.
func (p *process) printJSON(value any) error {
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// oneLine makes a text that came from outside fit for a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		// Marks of writing direction too: they show a text other than it is.
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
}
