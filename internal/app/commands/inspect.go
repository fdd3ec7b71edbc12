package commands

import (
	"context"
	"errors"
	"strconv"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

type inspectCommand struct {
	alwaysValid
	jsonFlag
	Reference string `arg:"" help:"Reference of the order."`
}

// inspectionJSON is the JSON output of everything about an order.
type inspectionJSON struct {
	Found    foundJSON   `json:"order"`
	Merchant string      `json:"merchant"`
	History  []eventJSON `json:"history"`
	Files    []fileJSON  `json:"files"`

	Deliveries []deliveryJSON `json:"deliveries"`
}

type eventJSON struct {
	Seq       int64     `json:"seq"`
	Type      string    `json:"type"`
	At        time.Time `json:"at"`
	Actor     string    `json:"actor"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	FileName  string    `json:"filename,omitempty"`
	TokenID   int64     `json:"tokenId,omitempty"`
	RequestID string    `json:"requestId,omitempty"`
}

type fileJSON struct {
	ID         int64      `json:"id"`
	Name       string     `json:"filename"`
	Size       int64      `json:"size"`
	UploadedAt time.Time  `json:"uploadedAt"`
	DeletedAt  *time.Time `json:"deletedAt"`
}

type deliveryJSON struct {
	WebhookID int64     `json:"webhookId"`
	At        time.Time `json:"at"`
	Event     int64     `json:"event"`
	Events    int       `json:"events,omitempty"` // how many, if Event is the first of several
	Type      string    `json:"type"`
	Status    int       `json:"status,omitempty"`
	Error     string    `json:"error,omitempty"`
	TookMs    int64     `json:"tookMs"`
}

func newDeliveryJSON(d delivery.Attempt) deliveryJSON {
	return deliveryJSON{
		WebhookID: d.WebhookID, At: utc(d.At), Event: d.Event, Events: d.Several(), Type: d.Type, Status: d.Status, Error: d.Error, TookMs: d.Took.Milliseconds(),
	}
}

func newEventJSON(e order.EventRecord) eventJSON {
	event := eventJSON{
		Seq: e.Seq, Type: e.Type.String(), At: utc(e.At), Actor: e.By.Actor.String(), Reason: string(e.Reason), FileName: e.FileName,
		TokenID: e.By.TokenID, RequestID: e.By.RequestID,
	}
	if e.From.Valid() {
		event.From = e.From.String()
	}
	if e.To.Valid() {
		event.To = e.To.String()
	}
	return event
}

func newFileJSON(f order.FileEntry) fileJSON {
	file := fileJSON{ID: f.ID, Name: f.Name, Size: f.Size, UploadedAt: utc(f.CreatedAt)}
	if !f.DeletedAt.IsZero() {
		deletedAt := utc(f.DeletedAt)
		file.DeletedAt = &deletedAt
	}
	return file
}

func (c *inspectCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	all, err := b.Orders.Inspect(ctx, c.Reference)
	if errors.Is(err, order.ErrNotFound) {
		return errors.New("there is no order " + app.OneLine(c.Reference))
	}
	if err != nil {
		return err
	}
	deliveries, err := b.DB.OrderDeliveries(ctx, all.Order.MerchantID, all.Order.LegacyID, webhook.MaxOrderDeliveries)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(newInspectionJSON(all, deliveries))
	}
	return p.printInspection(all, deliveries)
}

// foundOf returns an order as a search finds it.
func foundOf(o *order.Order) order.FoundOrder {
	return order.FoundOrder{
		Summary: order.Summary{
			LegacyID: o.LegacyID, Reference: o.Reference, State: o.State, Currency: o.Currency, CountryCode: o.CountryCode,
			CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, Total: o.Total, HasInvoice: o.InvoiceDetails != nil, Customer: o.Customer,
		},
		MerchantID: o.MerchantID, ExpiresAt: o.ExpiresAt, Invoices: len(o.Invoices),
	}
}

func newInspectionJSON(all order.Inspection, deliveries []delivery.Attempt) inspectionJSON {
	return inspectionJSON{
		Found: newFoundJSON(foundOf(&all.Order)), Merchant: all.Order.MerchantName, History: web.Collect(all.Events, newEventJSON),
		Files: web.Collect(all.Files, newFileJSON), Deliveries: web.Collect(deliveries, newDeliveryJSON),
	}
}

// printInspection prints everything about an order as tables.
func (p *process) printInspection(all order.Inspection, deliveries []delivery.Attempt) error {
	return p.printSections(
		newSection(foundHeading, []order.FoundOrder{foundOf(&all.Order)}, foundRow),
		newSection([]string{"TIME", "EVENT", "ACTOR", "FROM", "TO", "REASON", "FILE", "TOKEN", "REQUEST"}, all.Events, func(e order.EventRecord) []string {
			event := newEventJSON(e)
			return []string{
				timestamp(e.At), event.Type, event.Actor, textOr(event.From), textOr(event.To), textOr(event.Reason), textOr(event.FileName),
				numberOr(event.TokenID), textOr(event.RequestID),
			}
		}),
		newSection([]string{"FILE", "NAME", "BYTES", "UPLOADED", "DELETED"}, all.Files, func(f order.FileEntry) []string {
			return []string{numberOr(f.ID), textOr(f.Name), strconv.FormatInt(f.Size, 10), timestamp(f.CreatedAt), timestamp(f.DeletedAt)}
		}),
		newSection([]string{"DELIVERED", "WEBHOOK", "NUMBER", "EVENTS", "EVENT", "STATUS", "ERROR", "MS"}, deliveries, func(d delivery.Attempt) []string {
			return []string{
				timestamp(d.At), numberOr(d.WebhookID), numberOr(d.Event), strconv.Itoa(d.Events), d.Type, numberOr(int64(d.Status)), textOr(d.Error),
				strconv.FormatInt(d.Took.Milliseconds(), 10),
			}
		}),
	)
}
