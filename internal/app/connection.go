package app

import (
	"errors"
	"fmt"
	"strings"

	"merchantorders/client"
	"merchantorders/internal/config"
)

// connection has the flags of every command that calls a service over HTTP.
type connection struct {
	Address string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service."`
	Token   string `placeholder:"TOKEN" help:"Token of the merchant. Required. Prefer the variable to the flag: every user of the machine can see flags in the process list."`
	JSON    bool   `name:"json" help:"Print JSON for programs: field names as in the interface, times in RFC 3339."`
}

// remote marks commands that call a service; see isRemote.
func (c *connection) remote() {}

// check validates the flags. It does not connect.
func (c *connection) check() error {
	if c.Token == "" {
		return config.Invalid("token", "is required; create one with merchant-orders token create")
	}
	if _, err := client.New(c.Address, "mo_"); err != nil {
		return config.Invalid("address", "must be a URL such as https://orders.example.com, without user name, query or fragment")
	}
	if _, err := client.New(c.Address, c.Token); err != nil {
		return config.Invalid("token", "contains characters that are not allowed in a token")
	}
	return nil
}

// errOperatorToken reports an operator's token, which v2 always refuses.
var errOperatorToken = errors.New("this is an operator's token; orders are read with a token of their merchant")

// connect returns a client of the service.
func (c *connection) connect(options ...client.Option) (*client.Client, error) {
	if strings.HasPrefix(c.Token, "mop_") {
		return nil, errOperatorToken
	}
	options = append(options, client.WithUserAgent(programName+"/"+oneLine(version())))
	return client.New(c.Address, c.Token, options...)
}

// writeFlags has the flags of every command that changes an order over HTTP.
type writeFlags struct {
	IfMatch string `name:"if-match" placeholder:"TAG" help:"Change the order only if its tag still equals TAG (from orders show --json)."`
	Key     string `placeholder:"TEXT" help:"Idempotency key, 1 to 255 printable characters. Repeating the command with the same key within 24 hours returns the first result. Empty: a random key."`
}

// options returns the options of a write. The receipt is stored in r.
func (w *writeFlags) options(r *client.Receipt) []client.WriteOption {
	options := []client.WriteOption{client.ReceiptTo(r)}
	if w.IfMatch != "" {
		options = append(options, client.IfMatch(w.IfMatch))
	}
	if w.Key != "" {
		options = append(options, client.IdempotencyKey(w.Key))
	}
	return options
}

// exitCodes are the exit codes of errors of a service.
var exitCodes = []struct {
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
	{errOperatorToken, exitUnauthorized},
	{client.ErrUnauthorized, exitUnauthorized},
	{client.ErrForbidden, exitUnauthorized},
	{client.ErrTransport, exitUnavailable},
	{client.ErrUnavailable, exitUnavailable},
	{client.ErrRateLimited, exitUnavailable},
	{client.ErrInProgress, exitUnavailable},
}

// exitCode returns the exit code for an error of a command.
func exitCode(err error) int {
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	for _, row := range exitCodes {
		if errors.Is(err, row.kind) {
			return row.code
		}
	}
	return exitFailed
}

// textOr joins the parts of a text on one line; "-" if all are empty.
func textOr(parts ...string) string {
	text := oneLine(strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
	if text == "" {
		return "-"
	}
	return text
}

// optional returns a text; empty for nil.
func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// changed is the JSON output of a change.
type changed struct {
	OrderReference string       `json:"orderReference"`
	State          client.State `json:"state"`
	Tag            string       `json:"tag,omitempty"`
	Replayed       bool         `json:"replayed"`
	RequestID      string       `json:"requestId"`
}

// printChange prints an order and its new state.
func (p *process) printChange(asJSON bool, reference string, state client.State, r client.Receipt) error {
	if asJSON {
		return p.printJSON(changed{OrderReference: reference, State: state, Tag: r.Tag, Replayed: r.Replayed, RequestID: r.RequestID})
	}
	return p.print("%s", oneLine(fmt.Sprintf("order %s is %s", reference, state)))
}
