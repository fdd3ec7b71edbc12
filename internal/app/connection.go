package app

import (
	"errors"
	"fmt"
	"strings"

	"merchantorders/client"
	"merchantorders/internal/config"
)

// connection is the flags of every command that calls a service over HTTP. Such
// a command opens no data folder, so that the settings of one do not count.
type connection struct {
	Address string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service."`
	Token   string `placeholder:"TOKEN" help:"Token of the merchant. Required. Set the variable rather than the flag: flags stand in the list of processes, for all to see."`
	JSON    bool   `name:"json" help:"Print JSON for programs: field names as in the interface, times in RFC 3339."`
}

// remote tells these commands from those that work on a data folder.
func (c *connection) remote() {}

// check makes a client to see whether one can be made: it connects to nothing.
func (c *connection) check() error {
	if c.Token == "" {
		return config.About("token", "is required; a merchant's token is made with merchant-orders token create")
	}
	if _, err := client.New(c.Address, "mo_"); err != nil {
		return config.About("address", "must be such as https://orders.example.com, without user name, query or fragment")
	}
	if _, err := client.New(c.Address, c.Token); err != nil {
		return config.About("token", "has characters that no token has")
	}
	return nil
}

// connect returns a client of the service.
func (c *connection) connect(options ...client.Option) (*client.Client, error) {
	options = append(options, client.WithUserAgent(programName+"/"+oneLine(version())))
	return client.New(c.Address, c.Token, options...)
}

// writing is the flags of every command that changes an order over HTTP.
type writing struct {
	IfMatch string `name:"if-match" placeholder:"TAG" help:"Change the order only if it still is what orders show --json gave this tag for."`
	Key     string `placeholder:"TEXT" help:"Name of this very change, 1 to 255 printable characters: run again with it, within 24 hours, the command gets the first answer and changes nothing twice. Empty: a random one."`
}

// options returns what the flags ask of a write, whose receipt goes to r.
func (w *writing) options(r *client.Receipt) []client.WriteOption {
	options := []client.WriteOption{client.ReceiptTo(r)}
	if w.IfMatch != "" {
		options = append(options, client.IfMatch(w.IfMatch))
	}
	if w.Key != "" {
		options = append(options, client.IdempotencyKey(w.Key))
	}
	return options
}

// exitsOfService are the exit codes of what a service refuses or fails to do.
var exitsOfService = []struct {
	kind error
	code int
}{
	{client.ErrInvalidParams, exitUsage},
	{client.ErrNotFound, exitNotFound},
	{client.ErrInvoiceNotFound, exitNotFound},
	{client.ErrCannotAccept, exitRefused},
	{client.ErrCannotReject, exitRefused},
	{client.ErrInvalidReason, exitRefused},
	{client.ErrInvalidAction, exitRefused},
	{client.ErrInvalidPayload, exitRefused},
	{client.ErrTooManyFiles, exitRefused},
	{client.ErrFileType, exitRefused},
	{client.ErrFileTooBig, exitRefused},
	{client.ErrPrecondition, exitRefused},
	{client.ErrKeyReused, exitRefused},
	{client.ErrRefused, exitRefused},
	{client.ErrUnauthorized, exitUnauthorized},
	{client.ErrForbidden, exitUnauthorized},
	{client.ErrTransport, exitUnavailable},
	{client.ErrUnavailable, exitUnavailable},
	{client.ErrRateLimited, exitUnavailable},
	{client.ErrInProgress, exitUnavailable},
}

// exitCode returns the exit code of a command that ended with an error.
func exitCode(err error) int {
	var wrong *usageError
	if errors.As(err, &wrong) {
		return exitUsage
	}
	for _, row := range exitsOfService {
		if errors.Is(err, row.kind) {
			return row.code
		}
	}
	return exitFailed
}

// textOr returns a text for people, "-" for an empty one.
func textOr(parts ...string) string {
	text := oneLine(strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
	if text == "" {
		return "-"
	}
	return text
}

// optional returns a text that may be missing.
func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// changed is what a command prints of a change that was made.
type changed struct {
	OrderReference string       `json:"orderReference"`
	State          client.State `json:"state"`
	Tag            string       `json:"tag,omitempty"`
	Replayed       bool         `json:"replayed"`
	RequestID      string       `json:"requestId"`
}

// printChange tells of an order that was moved to a state.
func (p *process) printChange(asJSON bool, reference string, state client.State, r client.Receipt) error {
	if asJSON {
		return p.printJSON(changed{OrderReference: reference, State: state, Tag: r.Tag, Replayed: r.Replayed, RequestID: r.RequestID})
	}
	return p.print("%s", oneLine(fmt.Sprintf("order %s is %s", reference, state)))
}
