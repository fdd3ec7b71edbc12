package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/strict"
)

type merchantCommand struct {
	Add      merchantAdd      `cmd:"" help:"Add a merchant. Adding a merchant again with the same name is not an error."`
	List     merchantList     `cmd:"" help:"List all merchants."`
	Show     merchantShow     `cmd:"" help:"Show one merchant."`
	Rename   merchantRename   `cmd:"" help:"Change the name of a merchant."`
	Suspend  merchantSuspend  `cmd:"" help:"Suspend a merchant: its tokens are refused from the next request on; its orders still arrive."`
	Resume   merchantResume   `cmd:"" help:"End the suspension of a merchant."`
	Limit    merchantLimit    `cmd:"" help:"Set the request limit of each token of a merchant."`
	TimeZone merchantTimeZone `cmd:"" name:"zone" help:"Set the time zone whose days the staff of a merchant see in the console."`
}

type merchantAdd struct {
	jsonFlag
	File string `arg:"" optional:"" name:"file" help:"File of merchants, one JSON object with id and name a line. - is standard input. Without it, the flags describe one merchant."`
	ID   string `name:"id" aliases:"merchant" placeholder:"N" help:"Store id of the merchant, a positive number. Required."`
	Name string `name:"name" placeholder:"TEXT" help:"Name of the merchant. v1 shows it as company_name. Required."`

	id int64
}

func (c *merchantAdd) check() error {
	var f flagValues
	switch {
	case c.File == "":
		c.id = f.id("id", c.ID)
		f.refuse("name", order.MerchantNameProblem(c.Name))
	case c.ID != "" || c.Name != "":
		f.refuse("id", "and --name must not be given together with a file")
	}
	return f.err()
}

func (c *merchantAdd) run(ctx context.Context, p *process) error {
	var input io.ReadCloser
	size := int64(0)
	if c.File != "" {
		var err error
		if input, size, err = p.input(c.File); err != nil {
			return err
		}
		defer func() { _ = input.Close() }()
	}
	schema := migrations.Options{NoMigrate: true, BeforeCreate: p.OpenEmptyBucket}
	if err := p.AllowNewByCommand(&schema); err != nil {
		return err
	}
	isNew := !schema.NoCreate && p.Settings.DatabaseLocation().File() != ""
	if isNew {
		created, err := p.CreateDataFolder()
		if err != nil {
			return err
		}
		if created != "" {
			p.printError("created the data folder %s", created)
		}
	}
	return p.with(ctx, schema, isNew, func(b *app.Backend) error {
		if c.File != "" {
			return p.runLines(ctx, merchantLines(b.Merchants, p.caller), input, size, nil, manyWords)
		}
		err := b.Merchants.Add(ctx, p.caller, c.id, c.Name, order.Options[order.Merchant]{})
		if errors.Is(err, order.ErrMerchantExists) {
			return fmt.Errorf("merchant %d exists already, with another name", c.id)
		}
		if err != nil {
			return err
		}
		if c.JSON {
			merchant, err := b.Merchants.Get(ctx, c.id)
			if err != nil {
				return err
			}
			return p.printJSON(newMerchantJSON(merchant))
		}
		return p.print("merchant %d: %s", c.id, c.Name)
	})
}

// merchantLines are lines with a merchant each, which are added.
func merchantLines(merchants *order.Merchants, caller order.Caller) ingest.Lines {
	statuses := []order.LineStatus{order.Created, order.Unchanged, order.Conflict, order.Invalid}
	return ingest.Items(statuses, func(text []byte) (m order.Merchant, err error) {
		body := strict.ParseBody(text, "id", "name")
		m.ID, m.Name = body.Int("id", 1, strict.MaxInt), body.Text("name", order.MerchantNameProblem)
		return m, lineError(body)
	}, func(ctx context.Context, m order.Merchant) (ingest.Result, error) {
		result := ingest.Result{MerchantID: m.ID, Status: order.Created}
		_, err := merchants.Get(ctx, m.ID)
		if err == nil {
			result.Status = order.Unchanged
		} else if !errors.Is(err, order.ErrMerchantNotFound) {
			return result, err
		}
		err = merchants.Add(ctx, caller, m.ID, m.Name, order.Options[order.Merchant]{})
		if errors.Is(err, order.ErrMerchantExists) {
			result.Status, result.Problem, err = order.Conflict, "the merchant exists already, with another name", nil
		}
		return result, err
	})
}

type merchantList struct {
	alwaysValid
	jsonFlag
}

// merchantJSON is the JSON output of a merchant.
type merchantJSON struct {
	ID               int64       `json:"id"`
	Name             string      `json:"name"`
	CreatedAt        time.Time   `json:"createdAt"`
	SuspendedAt      time.Time   `json:"suspendedAt,omitzero"`
	SuspensionReason string      `json:"suspensionReason,omitempty"`
	Limits           *limitsJSON `json:"limits,omitempty"`   // nil: those of the service
	TimeZone         string      `json:"timeZone,omitempty"` // empty: that of the service
}

type limitsJSON struct {
	RequestsPerSecond int `json:"requestsPerSecond"`
	Burst             int `json:"burst"`
}

func newMerchantJSON(m order.Merchant) merchantJSON {
	document := merchantJSON{
		ID: m.ID, Name: m.Name, CreatedAt: utc(m.CreatedAt), SuspendedAt: utc(m.SuspendedAt), SuspensionReason: m.SuspensionReason, TimeZone: m.TimeZone,
	}
	if m.RateLimit != (order.RateLimit{}) {
		document.Limits = &limitsJSON{m.RateLimit.PerSecond, m.RateLimit.Burst}
	}
	return document
}

func (c *merchantList) runOn(ctx context.Context, p *process, b *app.Backend) error {
	merchants, err := b.Merchants.List(ctx, order.MerchantFilter{})
	if err != nil {
		return err
	}
	return printList(p, c.jsonFlag, []string{"ID", "NAME", "CREATED", "SUSPENDED"}, merchants, func(m order.Merchant) []string {
		return []string{strconv.FormatInt(m.ID, 10), app.OneLine(m.Name), timestamp(m.CreatedAt), timestamp(m.SuspendedAt)}
	}, newMerchantJSON)
}

// callerOf returns the caller of a command. An empty name is that of the user of the
// operating system.
func callerOf(name, ticket string) order.Caller {
	if name == "" {
		name = strconv.Itoa(os.Getuid())
		if account, err := user.Current(); err == nil && order.AuditWordProblem(account.Username) == "" {
			name = account.Username
		}
	}
	caller := order.Command()
	caller.Name, caller.Ticket = name, ticket
	return caller
}

// byCommand says who runs the command, for the log.
func (p *process) byCommand() slog.Attr { return slog.String("by", "command of user "+p.caller.Name) }
