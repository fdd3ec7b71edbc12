package commands

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"merchantorders/internal/app"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
)

// privateFlag is the flag of commands that send to webhooks.
type privateFlag struct {
	AllowPrivate bool `name:"webhook-allow-private" help:"Allow webhooks with the scheme http, any port, and addresses that are not public, as serve does with this flag."`
}

// webhookFields are what one can set of a webhook; nil: not given. Those with secrets are
// read from files too.
type webhookFields struct {
	privateFlag
	URL         *string `name:"url" placeholder:"URL" help:"Address that receives the events. Required for a new webhook; one of another host removes headers and password."`
	Description *string `placeholder:"TEXT" help:"What the webhook is for, on one line of up to 200 bytes."`
	Types       *string `placeholder:"LIST" help:"Types of the events, separated by commas. Empty: all."`
	Include     *string `placeholder:"WORD" help:"order: deliveries have the order of the event. Empty: they have not."`
	Batch       *int    `placeholder:"N" help:"How many events a delivery may have, 1 to 100. With more than 1 its body is {\"events\":[...]}, also for one event."`
	Headers     *string `secret:"" placeholder:"LINES" help:"Further headers of deliveries in place of all earlier ones, one a line, such as X-Api-Key: VALUE. Best in a file. Empty: none."`
	Username    *string `placeholder:"NAME" help:"User name of Basic authentication, with --password. Empty: none."`
	Password    string  `secret:"" placeholder:"TEXT" help:"Password of --username. Best in a file."`

	change webhook.Change
}

// parse parses the flags into a change.
func (c *webhookFields) parse(f *flagValues) {
	c.change = webhook.Change{URL: c.URL, Description: c.Description, Username: c.Username, Password: delivery.Secret(c.Password)}
	if c.URL != nil {
		f.refuse("url", webhook.URLProblem(*c.URL, c.AllowPrivate))
	}
	if c.Description != nil {
		f.refuse("description", webhook.DescriptionProblem(*c.Description))
	}
	if c.Types != nil {
		types, ok := webhook.ParseTypes(strings.FieldsFunc(*c.Types, func(r rune) bool { return r == ' ' || r == ',' }))
		if c.change.Types = &types; !ok {
			f.refuse("types", "must be a list of "+strings.Join(webhook.TypeNames, ", "))
		}
	}
	if c.Include != nil {
		if c.change.Orders = new(*c.Include == "order"); *c.Include != "order" && *c.Include != "" {
			f.refuse("include", "must be order, or empty")
		}
	}
	if c.change.MaxEvents = c.Batch; c.Batch != nil && (*c.Batch < 1 || *c.Batch > webhook.MaxBatch) {
		f.refuse("batch", "must be from 1 to 100")
	}
	if c.Headers != nil {
		headers, problem := webhook.ParseHeaders(*c.Headers)
		for _, value := range headers {
			problem = cmp.Or(problem, webhook.CredentialProblem(string(value)))
		}
		f.refuse("headers", problem)
		c.change.Headers = headers
	}
	c.parseBasic(f)
}

// parseBasic checks user name and password, which are given together.
func (c *webhookFields) parseBasic(f *flagValues) {
	switch name := cmp.Or(c.Username, new("")); {
	case (*name == "") != (c.Password == ""):
		f.refuse("username", "and --password must be given together")
	case *name != "":
		f.refuse("username", webhook.UsernameProblem(*name))
		f.refuse("password", webhook.CredentialProblem(c.Password))
	}
}

// included returns what deliveries of a webhook include, as the flag names it.
func included(e webhook.Endpoint) string {
	if e.Orders {
		return "order"
	}
	return ""
}

type webhookAdd struct {
	jsonFlag
	Merchant string `placeholder:"N" help:"Id of the merchant; all for the events of all merchants. Required."`
	webhookFields
	After string `placeholder:"N" help:"Number of the event after which deliveries begin, or a cursor of the events of all merchants. Empty: the newest."`

	merchantID int64
	after      *order.MarketCursor
}

func (c *webhookAdd) check() error {
	var f flagValues
	c.merchantID = f.merchantOrAll(c.Merchant)
	c.URL = cmp.Or(c.URL, new("")) // which is refused
	c.parse(&f)
	if c.After != "" {
		c.after = new(f.start("after", c.After))
		if c.Merchant == webhook.All {
			f.refuse("after", startProblem(c.merchantID, *c.after))
		}
	}
	return f.err()
}

// startProblem returns what is wrong with where the deliveries of a webhook begin; empty
// text if nothing is: the number of an event names one of a single merchant.
func startProblem(merchantID int64, start order.MarketCursor) string {
	if merchantID == delivery.Marketplace && start.Seq != 0 && start.MerchantID == 0 {
		return "must be a cursor of the events of all merchants, or 0, for a webhook of all merchants"
	}
	return ""
}

func (c *webhookAdd) run(ctx context.Context, p *process) error {
	p.flags.WebhookAllowPrivate = c.AllowPrivate
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		e, err := b.Webhooks.Add(ctx, p.caller, c.merchantID, c.change, c.after, order.Options[webhook.Endpoint]{})
		if err != nil {
			return noMerchant(c.merchantID, "merchant list", err)
		}
		return p.printSecret(c.jsonFlag, e)
	})
}

type webhookChange struct {
	webhookTarget
	webhookFields
}

func (c *webhookChange) check() error {
	var f flagValues
	c.parse(&f)
	if c.Password == "" && c.Batch == nil && cmp.Or(c.URL, c.Description, c.Types, c.Include, c.Headers, c.Username) == nil {
		f.refuse("url", "or another flag that changes the webhook is required")
	}
	return errors.Join(c.webhookTarget.check(), f.err())
}

func (c *webhookChange) run(ctx context.Context, p *process) error {
	return c.webhookTarget.change(ctx, p, func(webhooks *webhook.Service, key delivery.Key) (webhook.Endpoint, error) {
		return webhooks.Change(ctx, p.caller, key, c.webhookFields.change, order.Options[webhook.Endpoint]{})
	})
}
