package order

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The actions of data protection in the audit log.
const (
	AuditErased   AuditAction = "customer.erased"
	AuditExported AuditAction = "customer.exported"
)

// ErasedFields are the fields that Order.Erase replaces, as the events and the audit log
// name them.
var ErasedFields = []string{"customer", "billingAddress", "shippingAddress", "notes", "invoiceDetails", "carrier", "lineItems.extendedAttributes", "merchantReference", "merchantNote"}

// Erase replaces the personal data of the customer. What stays says nothing about a
// person: amounts, states, dates, products, the countries, and whether an invoice was
// asked for.
func (o *Order) Erase() {
	o.Customer = Customer{}
	o.Billing, o.Shipping = o.Billing.erased(), o.Shipping.erased()
	o.Notes = nil
	if details := o.InvoiceDetails; details != nil {
		o.InvoiceDetails = &InvoiceDetails{
			Article39: details.Article39, Article39Eligible: details.Article39Eligible, Article39Valid: details.Article39Valid,
		}
	}
	o.MerchantData = MerchantData{}
	o.Carrier.ShipmentIDs, o.Carrier.TrackingCodes, o.Carrier.Comments = nil, "", nil
	for i := range o.LineItems {
		// The service does not know what they hold, such as the text of an engraving.
		o.LineItems[i].ExtendedAttributes = json.RawMessage("[]")
	}
}

func (a Address) erased() Address {
	return Address{Country: a.Country, CountryCode: a.CountryCode, Type: a.Type}
}

// EraseTarget says what to erase: the orders of a customer, or one order.
type EraseTarget struct {
	Email      string // of the customer; empty: one order
	MerchantID int64
	Reference  string
	// Files also deletes the invoice files of the orders and removes their bytes at
	// once. Their names are replaced.
	Files bool
}

// Erasure counts what was erased.
type Erasure struct {
	Orders int64 // that had personal data or files
	Files  int64 // whose bytes were removed
	// More is true if more orders of the customer follow: erase again.
	More bool
}

// Affected counts what an erasure would concern.
type Affected struct{ Orders, Merchants, Files int64 }

// Affected returns what Erase would concern. Errors: ErrNotFound, ErrInvalidEmail.
func (r *Retention) Affected(ctx context.Context, target EraseTarget) (Affected, error) {
	var orders []LockedOrder
	var err error
	if target.Email != "" {
		orders, err = r.customerOrders(ctx, target.Email)
	} else {
		var o Order
		o, err = r.store.Order(ctx, target.MerchantID, ByReference(target.Reference))
		orders = []LockedOrder{{MerchantID: o.MerchantID, ActiveInvoices: len(o.Invoices)}}
	}
	if err == nil && len(orders) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Affected{}, err
	}
	affected := Affected{Orders: int64(len(orders))}
	merchants := make(map[int64]bool)
	for _, o := range orders {
		merchants[o.MerchantID] = true
		affected.Files += int64(o.ActiveInvoices)
	}
	affected.Merchants = int64(len(merchants))
	return affected, nil
}

// Erase replaces the personal data of orders wherever the service stores it. It may be
// repeated: what is erased already is left alone, and an erasure that was interrupted is
// completed. Of a customer with many orders it erases some: repeat it while Erasure.More
// is set. Errors, in addition to those of Change: ErrNotFound, ErrInvalidEmail.
func (r *Retention) Erase(ctx context.Context, caller Caller, target EraseTarget, options Options[Erasure]) (Erasure, error) {
	if err := r.changes.Replay(ctx, caller, options.Key); err != nil {
		return Erasure{}, err
	}
	var result Erasure
	var refusal error
	if target.Email != "" {
		result, refusal = r.eraseCustomer(ctx, caller, target)
	} else {
		result, refusal = r.eraseOrder(ctx, caller, target.MerchantID, ByReference(target.Reference), target.Files)
	}
	if refusal != nil && !errors.Is(refusal, ErrNotFound) && !errors.Is(refusal, ErrInvalidEmail) {
		return result, refusal
	}
	// The orders have transactions of their own. A repetition after a crash erases the
	// rest, and then finds or records the response.
	return Change(ctx, r.changes, caller, options, func(Tx) (Erasure, error) { return result, refusal })
}

// eraseOrder erases one order, or returns ErrNotFound.
func (r *Retention) eraseOrder(ctx context.Context, caller Caller, merchantID int64, id Identifier, files bool) (Erasure, error) {
	if !id.Valid() {
		return Erasure{}, ErrNotFound
	}
	var locked LockedOrder
	cause := Cause{By: caller, At: r.orders.Now()}
	result, err := Change(ctx, r.changes, caller, Options[Erasure]{}, func(tx Tx) (erased Erasure, err error) {
		if locked, err = tx.LockOrder(ctx, merchantID, id); err != nil {
			return Erasure{}, err
		}
		deleted := 0
		if files {
			if deleted, err = deleteAll(ctx, tx, locked, cause); err != nil {
				return Erasure{}, err
			}
		}
		changed, err := tx.EraseOrder(ctx, locked, cause)
		if changed || deleted > 0 {
			erased.Orders = 1
		}
		return erased, err
	})
	if err == nil && files {
		result.Files, err = r.removeFiles(ctx, locked)
	}
	return result, err
}

// deleteAll deletes the active invoices of an order.
func deleteAll(ctx context.Context, tx Tx, locked LockedOrder, cause Cause) (int, error) {
	invoices, err := tx.Invoices(ctx, locked)
	if err != nil {
		return 0, err
	}
	for _, invoice := range invoices {
		if err := tx.DeleteInvoice(ctx, locked, invoice.ID, cause); err != nil {
			return 0, err
		}
	}
	return len(invoices), nil
}

// removeFiles removes the bytes of all deleted files of an order, and then their names.
func (r *Retention) removeFiles(ctx context.Context, o LockedOrder) (int64, error) {
	invoices, err := r.store.FilesToRemove(ctx, o.MerchantID, o.LegacyID)
	if err != nil {
		return 0, err
	}
	for i, invoice := range invoices {
		if err := r.orders.purge(ctx, invoice); err != nil {
			return int64(i), fmt.Errorf("order %s, invoice %d: %w", invoice.Reference, invoice.ID, err)
		}
	}
	return int64(len(invoices)), r.store.EraseFileNames(ctx, o.MerchantID, o.LegacyID)
}

// eraseBatch is how many orders of a customer one call of Erase erases.
const eraseBatch = 100

// eraseCustomer erases up to eraseBatch orders of a customer. Orders that are erased are
// not found any more.
func (r *Retention) eraseCustomer(ctx context.Context, caller Caller, target EraseTarget) (Erasure, error) {
	var total Erasure
	orders, err := r.customerOrders(ctx, target.Email)
	if err != nil {
		return Erasure{}, err
	}
	if len(orders) > eraseBatch {
		orders, total.More = orders[:eraseBatch], true
	}
	for _, o := range orders {
		one, err := r.eraseOrder(ctx, caller, o.MerchantID, ByLegacyID(o.LegacyID), target.Files)
		if errors.Is(err, ErrNotFound) {
			continue // deleted meanwhile
		}
		total.Orders += one.Orders
		total.Files += one.Files
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// ErrInvalidEmail means that a text cannot be the e-mail address of a customer.
var ErrInvalidEmail = errors.New("must be an e-mail address")

// customerOrders returns the orders of a customer, or ErrInvalidEmail.
func (r *Retention) customerOrders(ctx context.Context, email string) ([]LockedOrder, error) {
	email = TrimEmail(email)
	if !ValidEmail(email) {
		return nil, ErrInvalidEmail
	}
	return r.store.CustomerOrders(ctx, email)
}

// TrimEmail returns an e-mail address without what people and programs leave around it: white
// space of any kind, and characters that nobody sees.
func TrimEmail(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r != utf8.RuneError && !unicode.IsGraphic(r) })
}

// ValidEmail reports whether a text can be an e-mail address.
func ValidEmail(text string) bool {
	text = TrimEmail(text)
	return len(text) <= maxEmail && strings.Contains(strings.Trim(text, "@"), "@") && !strings.ContainsAny(text, " \t\r\n\x00") && utf8.ValidString(text)
}

// maxEmail is the length of the longest e-mail address, in bytes.
const maxEmail = 1000

// CustomerRecord is what the service stores about an order of a customer.
type CustomerRecord struct {
	Order  Order
	Events []EventRecord // oldest first
}

// CustomerData yields everything that is stored about a customer, order by order, or
// ErrInvalidEmail. The audit log records who has read it, but not about whom.
func (r *Retention) CustomerData(ctx context.Context, caller Caller, email string) iter.Seq2[CustomerRecord, error] {
	return func(yield func(CustomerRecord, error) bool) {
		orders, err := r.customerOrders(ctx, email)
		if err == nil {
			_, err = Change(ctx, r.changes, caller, Options[int]{}, func(tx Tx) (int, error) {
				return len(orders), tx.AppendAudit(ctx, AuditEntry{
					At: r.orders.Now(), Action: AuditExported, By: caller, Detail: "orders=" + strconv.Itoa(len(orders)),
				})
			})
		}
		if err != nil {
			yield(CustomerRecord{}, err)
			return
		}
		for _, o := range orders {
			record, err := r.customerRecord(ctx, o)
			if errors.Is(err, ErrNotFound) {
				continue // deleted meanwhile
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// customerRecord reads an order with all its events.
func (r *Retention) customerRecord(ctx context.Context, o LockedOrder) (record CustomerRecord, err error) {
	id := ByLegacyID(o.LegacyID)
	if record.Order, err = r.store.Order(ctx, o.MerchantID, id); err != nil {
		return record, err
	}
	for after := int64(0); ; {
		events, err := r.store.OrderEvents(ctx, o.MerchantID, id, after, MaxFeedLimit)
		record.Events = append(record.Events, events...)
		if err != nil || len(events) < MaxFeedLimit {
			return record, err
		}
		after = events[len(events)-1].Seq
	}
}
