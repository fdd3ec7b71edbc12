package commands

import (
	"merchantorders/client"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
)

// connection has the flags of every command that calls a service over HTTP and prints what
// it returns.
type connection struct {
	access
	JSON bool `name:"json" help:"Print JSON for programs: field names as in the interface, times in RFC 3339."`
}

// access has the flags of every command that calls a service over HTTP with a token.
type access struct {
	callsService
	Address string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service."`
	Token   string `secret:"" placeholder:"TOKEN" help:"Token of the merchant. Required. Prefer the variable to the flag: every user of the machine can see flags in the process list."`

	service *client.Client // set by check
}

func (c *access) check() error { return c.open() }

// open makes the client of the service. It does not connect.
func (c *access) open(options ...client.Option) error {
	if c.Token == "" {
		return config.Invalid("token", "is required; create one with merchant-orders token create")
	}
	if _, err := client.New(c.Address, "mo_"); err != nil {
		return config.Invalid("address", "must be a URL such as https://orders.example.com, without user name, query or fragment")
	}
	var err error
	options = append(options, client.WithUserAgent(programName+"/"+app.OneLine(app.Version())))
	if c.service, err = client.New(c.Address, c.Token, options...); err != nil {
		return config.Invalid("token", "contains characters that are not allowed in a token")
	}
	return nil
}

// orderTarget has the arguments and flags of every command for one order.
type orderTarget struct {
	Reference string `arg:"" help:"Reference of the order."`
	connection
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
