package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

type webhookCommand struct {
	List      webhookList      `cmd:"" help:"List the webhooks of all merchants, or of one."`
	Show      webhookShow      `cmd:"" help:"Show a webhook with its newest deliveries."`
	Add       webhookAdd       `cmd:"" help:"Add a webhook and print only its secret."`
	Change    webhookChange    `cmd:"" help:"Change a webhook; what is not given stays."`
	Enable    webhookEnable    `cmd:"" help:"Deliver to a webhook that is disabled, has failed or pauses after a failure."`
	Disable   webhookDisable   `cmd:"" help:"Stop the deliveries to a webhook; its events wait."`
	Rotate    webhookRotate    `cmd:"" help:"Replace the secret of a webhook and print only the new one."`
	Remove    webhookRemove    `cmd:"" help:"Remove a webhook with its deliveries."`
	Test      webhookTest      `cmd:"" help:"Send a test event to a webhook."`
	Redeliver webhookRedeliver `cmd:"" help:"Send one event to a webhook again."`
	Replay    webhookReplay    `cmd:"" help:"Deliver all events after a number, also those that were acknowledged."`
}

// webhooksPage is how many webhooks of all merchants are read at a time.
const webhooksPage = 500

type webhookList struct {
	jsonFlag
	Merchant string `placeholder:"N" help:"Only the webhooks of this merchant, or of the marketplace: all."`
	State    string `placeholder:"WORD" help:"Only webhooks in this state: active, failing (about to be disabled by the service), failed (disabled by the service) or disabled (by a request)."`

	state delivery.State
}

func (c *webhookList) check() error {
	var f flagValues
	if c.Merchant != "" {
		f.merchantOrAll(c.Merchant)
	}
	if c.state = webhook.ParseState(c.State); c.state == 0 && c.State != "" {
		f.refuse("state", "must be one of "+strings.Join(webhook.StateNames, ", "))
	}
	return f.err()
}

func (c *webhookList) runOn(ctx context.Context, p *process, b *app.Backend) error {
	read := func(after int64) ([]webhook.Endpoint, error) {
		return b.Webhooks.Page(ctx, c.state, after, webhooksPage)
	}
	if c.Merchant != "" {
		read = func(int64) ([]webhook.Endpoint, error) {
			merchantID := webhook.ParseMerchantID(c.Merchant)
			list, err := b.Webhooks.List(ctx, merchantID)
			list = slices.DeleteFunc(list, func(e webhook.Endpoint) bool { return c.state != 0 && e.State != c.state })
			return list, noMerchant(merchantID, "merchant list", err)
		}
	}
	endpoints := func(yield func(webhook.Endpoint, error) bool) {
		for after, more := int64(0), true; more; {
			page, err := read(after)
			if err != nil {
				yield(webhook.Endpoint{}, err)
				return
			}
			for _, e := range page {
				if after = e.ID; !yield(e, nil) {
					return
				}
			}
			more = len(page) == webhooksPage
		}
	}
	heading := []string{"ID", "MERCHANT", "STATE", "ACKNOWLEDGED", "FAILURES", "FAILING SINCE", "URL", "DESCRIPTION"}
	return printAll(p, c.JSON, heading, endpoints, 0, func(e webhook.Endpoint) []string {
		return []string{
			strconv.FormatInt(e.ID, 10), merchantOrAll(e), e.State.String(), e.Position(),
			strconv.Itoa(e.Failures), timestamp(e.FailingSince), textOr(e.URL), textOr(e.Description),
		}
	}, webhookapi.View)
}

// merchantOrAll parses the id of a merchant, or webhook.All.
func (f *flagValues) merchantOrAll(text string) int64 {
	if text == webhook.All {
		return delivery.Marketplace
	}
	return f.id("merchant", text)
}

// merchantOrAll returns the id of the merchant of a webhook, or webhook.All.
func merchantOrAll(e webhook.Endpoint) string {
	if e.MerchantID == delivery.Marketplace {
		return webhook.All
	}
	return strconv.FormatInt(e.MerchantID, 10)
}

// webhookTarget is the webhook that a command shows or changes.
type webhookTarget struct {
	jsonFlag
	ID string `arg:"" name:"id" help:"Id of the webhook, from webhook list."`

	id int64
}

func (c *webhookTarget) check() error {
	id, problem := positive(c.ID)
	if c.id = id; problem != "" {
		return app.UsageError{Err: errors.New("the id of the webhook " + problem)}
	}
	return nil
}

// with runs a function with the key of the webhook, which its id alone identifies.
func (c *webhookTarget) with(ctx context.Context, p *process, do func(*webhook.Service, delivery.Key) error) error {
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		found, err := b.Webhooks.Page(ctx, 0, c.id-1, 1)
		if err == nil && (len(found) == 0 || found[0].ID != c.id) {
			err = fmt.Errorf("there is no webhook %d", c.id)
		}
		if err != nil {
			return err
		}
		return do(b.Webhooks, found[0].Key)
	})
}

// change is with for a function that returns the changed webhook, which it prints.
func (c *webhookTarget) change(ctx context.Context, p *process, do func(*webhook.Service, delivery.Key) (webhook.Endpoint, error)) error {
	return c.with(ctx, p, func(webhooks *webhook.Service, key delivery.Key) error {
		e, err := do(webhooks, key)
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, webhookapi.View(e), "webhook %d of merchant %s: %s, acknowledged %s", e.ID, merchantOrAll(e), e.State, e.Position())
	})
}

// deliveriesShown is how many deliveries show prints.
const deliveriesShown = 20

type webhookShow struct{ webhookTarget }

func (c *webhookShow) run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(webhooks *webhook.Service, key delivery.Key) error {
		e, err := webhooks.Get(ctx, key)
		if err != nil {
			return err
		}
		deliveries, err := webhooks.Deliveries(ctx, key, math.MaxInt64, deliveriesShown)
		if err != nil {
			return err
		}
		if c.JSON {
			view := struct {
				Webhook    any   `json:"webhook"`
				Deliveries []any `json:"deliveries"` // the newest first
			}{webhookapi.View(e), web.Collect(deliveries, webhookapi.DeliveryView)}
			return p.printJSON(view)
		}
		fields := [][]string{
			{"Merchant", merchantOrAll(e)},
			{"URL", textOr(e.URL)},
			{"Description", textOr(e.Description)},
			{"Types", cmp.Or(strings.Trim(fmt.Sprint(e.Types.List()), "[]"), "all")},
			{"Include", textOr(included(e))},
			{"Batch", strconv.Itoa(e.MaxEvents)},
			{"Headers", textOr(strings.Join(slices.Sorted(maps.Keys(e.Headers)), " "))},
			{"User name", textOr(e.Username)},
			{"State", textOr(e.State.String(), " ", e.Reason)},
			{"Acknowledged", e.Position()},
			{"Failing since", timestamp(e.FailingSince)},
			{"Next attempt", timestamp(e.NextAttempt)},
			{"Old secret until", timestamp(e.OldSecretUntil)},
		}
		return p.printSections(
			section{[]string{"WEBHOOK", strconv.FormatInt(e.ID, 10)}, fields},
			newSection([]string{"HELD MERCHANT", "EVENT", "FAILURES", "FAILING SINCE", "NEXT ATTEMPT"}, e.Held, func(h delivery.Held) []string {
				return []string{numberOr(h.MerchantID), numberOr(h.Event), strconv.Itoa(h.Failures), timestamp(h.FailingSince), timestamp(h.NextAttempt)}
			}),
			newSection([]string{"DELIVERED", "MERCHANT", "EVENT", "EVENTS", "TYPE", "STATUS", "ERROR", "MS"}, deliveries, func(d delivery.Attempt) []string {
				return []string{
					timestamp(d.At), numberOr(cmp.Or(d.EventMerchant, e.MerchantID)), numberOr(d.Event), strconv.Itoa(d.Events), d.Type, numberOr(int64(d.Status)), textOr(d.Error), strconv.FormatInt(d.Took.Milliseconds(), 10),
				}
			}))
	})
}

// start parses the number of an event, or a cursor of the feed of all merchants.
func (f *flagValues) start(flag, text string) order.MarketCursor {
	if seq, err := strconv.ParseInt(text, 10, 64); err == nil && seq >= 0 {
		return order.MarketCursor{Seq: seq}
	}
	start, ok := orderapi.ParseMarketCursor(text)
	if !ok || text == "" {
		f.refuse(flag, "must be a whole number from 0, or a cursor of the events of all merchants")
	}
	return start
}

// printSecret prints the new secret of a webhook, alone or as the interface does.
func (p *process) printSecret(flag jsonFlag, e webhook.Endpoint) error {
	err := p.printResult(flag.JSON, webhookapi.SecretView(e), "%s", string(e.Secret))
	if err != nil {
		err = fmt.Errorf("webhook %d has a secret that nobody has seen: rotate it: %w", e.ID, err)
	}
	return err
}

type webhookEnable struct{ webhookTarget }

func (c *webhookEnable) run(ctx context.Context, p *process) error { return c.setEnabled(ctx, p, true) }

type webhookDisable struct{ webhookTarget }

func (c *webhookDisable) run(ctx context.Context, p *process) error {
	return c.setEnabled(ctx, p, false)
}

func (c *webhookTarget) setEnabled(ctx context.Context, p *process, enabled bool) error {
	return c.change(ctx, p, func(webhooks *webhook.Service, key delivery.Key) (webhook.Endpoint, error) {
		return webhooks.Change(ctx, p.caller, key, webhook.Change{Enabled: &enabled}, order.Options[webhook.Endpoint]{})
	})
}

type webhookRotate struct {
	webhookTarget
	Overlap string `default:"24h" placeholder:"TIME" help:"Time for which the old secret signs too, up to 168h. 0s: none."`

	overlap time.Duration
}

func (c *webhookRotate) check() error {
	var f flagValues
	if c.overlap = f.duration("overlap", c.Overlap); c.overlap > webhook.MaxOverlap {
		f.refuse("overlap", "must be at most "+webhook.MaxOverlap.String())
	}
	return errors.Join(c.webhookTarget.check(), f.err())
}

func (c *webhookRotate) run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(webhooks *webhook.Service, key delivery.Key) error {
		e, err := webhooks.RotateSecret(ctx, p.caller, key, c.overlap.Truncate(time.Second), order.Options[webhook.Endpoint]{})
		if err != nil {
			return err
		}
		return p.printSecret(c.jsonFlag, e)
	})
}

type webhookRemove struct{ webhookTarget }

func (c *webhookRemove) run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(webhooks *webhook.Service, key delivery.Key) error {
		e, err := webhooks.Remove(ctx, p.caller, key, order.Options[webhook.Endpoint]{})
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, webhookapi.View(e), "webhook %d of merchant %s is removed", e.ID, merchantOrAll(e))
	})
}

type webhookReplay struct {
	webhookTarget
	After string `placeholder:"N" help:"Number of the event after which deliveries begin again, or a cursor of the events of all merchants; 0: with the first event. Required."`

	after order.MarketCursor
}

func (c *webhookReplay) check() error {
	var f flagValues
	c.after = f.start("after", c.After)
	return errors.Join(c.webhookTarget.check(), f.err())
}

func (c *webhookReplay) run(ctx context.Context, p *process) error {
	return c.change(ctx, p, func(webhooks *webhook.Service, key delivery.Key) (webhook.Endpoint, error) {
		if problem := startProblem(key.MerchantID, c.after); problem != "" {
			return webhook.Endpoint{}, app.UsageError{Err: config.Invalid("after", problem)}
		}
		return webhooks.Replay(ctx, p.caller, key, c.after, order.Options[webhook.Endpoint]{})
	})
}

type webhookTest struct {
	webhookTarget
	privateFlag
}

func (c *webhookTest) run(ctx context.Context, p *process) error {
	return c.send(ctx, p, c.privateFlag, func(webhooks *webhook.Service, key delivery.Key) (delivery.Attempt, error) {
		return webhooks.Test(ctx, p.caller, key, order.Options[delivery.Attempt]{})
	})
}

type webhookRedeliver struct {
	webhookTarget
	privateFlag
	Event    string `placeholder:"N" help:"Number of the event. Required."`
	Merchant string `placeholder:"N" help:"Whose event it is. Required for a webhook of all merchants."`

	event, merchantID int64
}

func (c *webhookRedeliver) check() error {
	var f flagValues
	c.event, c.merchantID = f.id("event", c.Event), f.optionalID("merchant", c.Merchant)
	return errors.Join(c.webhookTarget.check(), f.err())
}

func (c *webhookRedeliver) run(ctx context.Context, p *process) error {
	return c.send(ctx, p, c.privateFlag, func(webhooks *webhook.Service, key delivery.Key) (delivery.Attempt, error) {
		if key.MerchantID == delivery.Marketplace && c.merchantID == 0 {
			return delivery.Attempt{}, app.UsageError{Err: config.Invalid("merchant", "is required for a webhook of all merchants")}
		}
		return webhooks.Redeliver(ctx, p.caller, key, cmp.Or(c.merchantID, key.MerchantID), c.event, order.Options[delivery.Attempt]{})
	})
}

// send is with for a function that sends a message, and prints what came of it. The command
// fails if the message was not acknowledged.
func (c *webhookTarget) send(ctx context.Context, p *process, private privateFlag, do func(*webhook.Service, delivery.Key) (delivery.Attempt, error)) error {
	p.flags.WebhookAllowPrivate = private.AllowPrivate
	return c.with(ctx, p, func(webhooks *webhook.Service, key delivery.Key) error {
		d, err := do(webhooks, key)
		if err != nil {
			return err
		}
		if c.JSON {
			err = p.printJSON(webhookapi.DeliveryView(d))
		} else if d.Error == "" {
			err = p.print("webhook %d acknowledged %s with status %d after %d ms", c.id, d.Type, d.Status, d.Took.Milliseconds())
		}
		if d.Error != "" {
			err = errors.Join(err, fmt.Errorf("webhook %d has not acknowledged %s: error %s, status %s", c.id, d.Type, d.Error, numberOr(int64(d.Status))))
		}
		return err
	})
}
