package commands

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"merchantorders/client"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

type ordersCommand struct {
	callsService
	List   ordersList   `cmd:"" help:"List orders, newest first."`
	Export ordersExport `cmd:"" help:"Export whole orders, one a line, oldest first."`
	Show   ordersShow   `cmd:"" help:"Show one order."`
	Accept ordersAccept `cmd:"" help:"Accept an order, or a list of orders."`
	Reject ordersReject `cmd:"" help:"Reject an order, or a list of orders."`
	Watch  ordersWatch  `cmd:"" help:"Print the events of orders, and new events as they occur, until stopped."`
}

// ordersFilter has the flags of commands for several orders.
type ordersFilter struct {
	connection
	State string `placeholder:"NAME" help:"Only orders in this state, such as registered. Empty: all."`
	From  string `placeholder:"DAY" help:"Only orders created on or after this day (UTC), such as 2026-11-20."`
	To    string `placeholder:"DAY" help:"Only orders created on or before this day (UTC)."`

	filter client.Filter
}

func (c *ordersFilter) check() error {
	var f flagValues
	c.filter.State = client.State(c.State)
	c.filter.From = f.dayStart("from", c.From)
	c.filter.To = f.dayStart("to", c.To)
	return errors.Join(c.connection.check(), f.err())
}

type ordersExport struct{ ordersFilter }

// exportEnd is the last line of an export, as the service sends it.
type exportEnd struct {
	Summary struct {
		Orders int64 `json:"orders"`
	} `json:"summary"`
	Complete bool   `json:"complete"`
	After    int64  `json:"after"`
	History  string `json:"history"`
}

func (c *ordersExport) run(ctx context.Context, p *process) error {
	var end exportEnd
	export := c.service.Export(c.filter)
	for line, err := range export.Lines(ctx) {
		if err == nil {
			_, err = p.stdout.Write(append(web.EscapeLines(line), '\n'))
		}
		if err != nil {
			return err
		}
		end.Summary.Orders++
	}
	position, _ := export.End()
	end.Complete, end.After, end.History = true, position.Next, position.History
	return p.printJSON(end)
}

type ordersList struct {
	ordersFilter
	Limit string `placeholder:"N" help:"Maximum number of orders. Empty: all."`

	limit int64
}

func (c *ordersList) check() error {
	var f flagValues
	c.limit = f.optionalID("limit", c.Limit)
	if c.limit > 0 && c.limit < client.MaxPageSize {
		c.filter.PageSize = int(c.limit)
	}
	return errors.Join(c.ordersFilter.check(), f.err())
}

var orderHeading = []string{"REFERENCE", "STATE", "CREATED", "TOTAL", "COUNTRY", "INVOICE", "CUSTOMER"}

func (c *ordersList) run(ctx context.Context, p *process) error {
	return printAll(p, c.JSON, orderHeading, c.service.Orders(ctx, c.filter), c.limit, orderRow, func(o client.Summary) any { return o })
}

// orderRow returns the table row of an order.
func orderRow(o client.Summary) []string {
	invoice := "no"
	if o.HasInvoice {
		invoice = "yes"
	}
	return []string{
		textOr(o.Reference), textOr(string(o.State)), timestamp(o.CreatedAt), amount(o.TotalItemsAmount),
		textOr(o.CountryCode), invoice, textOr(o.Customer.FirstName, o.Customer.LastName),
	}
}

// answerFlags has the arguments and flags of the commands that answer orders.
type answerFlags struct {
	Reference string `arg:"" help:"Reference of the order. - reads references from standard input, one a line."`
	connection
	writeFlags
}

// ofList reports whether the references are on standard input.
func (c *answerFlags) ofList() bool { return c.Reference == "-" }

func (c *answerFlags) check() error {
	var err error
	if c.ofList() && (c.IfMatch != "" || c.Key != "" || c.JSON) {
		err = errors.New("--if-match, --key and --json are for one order, not for a list")
	}
	return errors.Join(c.connection.check(), err)
}

// answerList answers the orders of the list like one.
func (c *answerFlags) answerList(ctx context.Context, p *process, like client.Answer) error {
	return p.runLines(ctx, ingest.References(func(references []string) ([]ingest.Result, error) {
		answers := func(yield func(client.Answer) bool) {
			for _, reference := range references {
				answer := like
				if answer.Reference = reference; !yield(answer) {
					return
				}
			}
		}
		results := make([]ingest.Result, 0, len(references))
		for r, err := range c.service.Answers(ctx, answers) {
			if err != nil {
				return nil, err
			}
			results = append(results, ingest.Result{Reference: r.Answer.Reference, Status: order.LineStatus(r.Status), State: string(r.State), Problem: r.Problem})
		}
		return results, nil
	}), p.stdin, -1, nil, lineWords{
		doing: "answering", rest: "answer the rest of the orders", oneRefused: "line changed nothing", manyRefused: "lines changed nothing",
	})
}

type ordersAccept struct{ answerFlags }

func (c *ordersAccept) run(ctx context.Context, p *process) error {
	if c.ofList() {
		return c.answerList(ctx, p, client.Answer{Decision: client.AcceptOrder})
	}
	var receipt client.Receipt
	if err := c.service.Accept(ctx, c.Reference, c.options(&receipt)...); err != nil {
		return err
	}
	return c.printChange(p, client.InProcessing, receipt)
}

type ordersReject struct {
	answerFlags
	Reason string `placeholder:"WORD" help:"Reason: out-of-stock, damaged, wrong-price, disabled-product or wrong-product. Empty: none."`
}

func (c *ordersReject) run(ctx context.Context, p *process) error {
	if c.ofList() {
		return c.answerList(ctx, p, client.Answer{Decision: client.RejectOrder, Reason: client.Reason(c.Reason)})
	}
	var receipt client.Receipt
	if err := c.service.Reject(ctx, c.Reference, client.Reason(c.Reason), c.options(&receipt)...); err != nil {
		return err
	}
	return c.printChange(p, client.RejectedByMerchant, receipt)
}

// changed is the JSON output of a change.
type changed struct {
	OrderReference string       `json:"orderReference"`
	State          client.State `json:"state"`
	Tag            string       `json:"tag,omitempty"`
	Replayed       bool         `json:"replayed"`
	RequestID      string       `json:"requestId"`
}

// printChange prints the order and its new state.
func (c *answerFlags) printChange(p *process, state client.State, r client.Receipt) error {
	document := changed{OrderReference: c.Reference, State: state, Tag: r.Tag, Replayed: r.Replayed, RequestID: r.RequestID}
	return p.printResult(c.JSON, document, "order %s is %s", c.Reference, state)
}

type ordersWatch struct {
	connection
	After   string `placeholder:"N" help:"Only events after the one with this number; latest: only new events, after a line that tells where the feed ends. Empty: all events."`
	History string `placeholder:"TEXT" help:"History in which --after was read (from orders watch --json): fail if event numbers have started again. Empty: do not compare."`
	Once    bool   `help:"Stop at the newest event instead of waiting for more."`

	after int64
}

// latest is the value of --after for the end of the feed.
const latest = "latest"

func (c *ordersWatch) check() error {
	var f flagValues
	if c.After != "0" && c.After != latest {
		c.after = f.optionalID("after", c.After)
	}
	return errors.Join(c.connection.check(), f.err())
}

func (c *ordersWatch) run(ctx context.Context, p *process) error {
	if c.After == latest {
		if err := c.printEnd(ctx, p); err != nil {
			return err
		}
	}
	follow := c.service.FollowEvents
	if c.Once {
		follow = c.service.Events
	}
	for event, err := range follow(ctx, c.after, client.InHistory(c.History)) {
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case c.JSON:
			err = p.printJSON(event)
		default:
			err = p.print("%s", eventLine(event))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// feedEnd is the JSON output of the end of the feed, as of the newest event.
type feedEnd struct {
	Seq     int64  `json:"seq"`
	History string `json:"history"`
}

// printEnd prints where the feed ends, and has the command begin there.
func (c *ordersWatch) printEnd(ctx context.Context, p *process) error {
	end, err := c.service.FeedEnd(ctx)
	if err != nil {
		return err
	}
	if c.after = end.Next; c.History == "" {
		c.History = end.History
	}
	return p.printResult(c.JSON, feedEnd{Seq: end.Next, History: end.History}, "%d  newest event, history %s", end.Next, end.History)
}

// eventLine returns an event as one line.
func eventLine(e client.Event) string {
	line := strconv.FormatInt(e.Seq, 10) + "  " + timestamp(e.At) + "  " + e.OrderReference + "  " + string(e.Type) + "  " + e.Actor
	if change, ok := e.StateChange(); ok {
		line += "  " + string(change.From) + " -> " + string(change.To)
		if change.Reason != client.NoReason {
			line += " (" + string(change.Reason) + ")"
		}
		return line
	}
	if len(e.Data) > 0 && json.Valid(e.Data) && string(e.Data) != "{}" {
		line += "  " + string(e.Data)
	}
	return line
}
