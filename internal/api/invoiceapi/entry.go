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

// createdAtFormat is ISO 8601 in UTC.
const createdAtFormat = "2006-01-02T15:04:05Z"

// NewEntry returns the entry of an invoice file of the order with a reference.
// storageURL is the URL of the stored files, without a slash at its end.
func NewEntry(storageURL, reference string, invoice order.Invoice) Entry {
	return Entry{
		ID:        invoice.ID,
		URL:       storageURL + "/" + order.InvoicePath(reference, url.PathEscape(invoice.Name)),
		CreatedAt: invoice.CreatedAt.UTC().Format(createdAtFormat),
	}
}

// NewEntries returns the entries of invoice files of one order, in the same order.
// The result is never nil, so that no files are shown as [].
func NewEntries(storageURL, reference string, invoices []order.Invoice) []Entry {
	entries := make([]Entry, 0, len(invoices))
	for _, invoice := range invoices {
		entries = append(entries, NewEntry(storageURL, reference, invoice))
	}
	return entries
}
