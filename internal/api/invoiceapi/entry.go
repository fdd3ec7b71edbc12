package invoiceapi

import (
	"net/url"

	"merchantorders/internal/order"
)

// Entry is an invoice file as both versions show it (spec 2.1).
type Entry struct {
	ID        int64  `json:"id"`
	URL       string `json:"url"`
	CreatedAt string `json:"created_at"`
}

// createdAtForm is ISO 8601 in UTC.
const createdAtForm = "2006-01-02T15:04:05Z"

// NewEntry returns the entry of an invoice file of an order. storageURL is the
// address of the storage, without a slash at its end.
func NewEntry(storageURL, reference string, invoice order.Invoice) Entry {
	return Entry{
		ID:        invoice.ID,
		URL:       storageURL + "/" + order.InvoicePath(reference, url.PathEscape(invoice.Name)),
		CreatedAt: invoice.CreatedAt.UTC().Format(createdAtForm),
	}
}

// NewEntries returns the entries of invoice files of an order, in their order;
// empty and not nil when there are none.
func NewEntries(storageURL, reference string, invoices []order.Invoice) []Entry {
	entries := make([]Entry, 0, len(invoices))
	for _, invoice := range invoices {
		entries = append(entries, NewEntry(storageURL, reference, invoice))
	}
	return entries
}
