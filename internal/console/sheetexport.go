package console

import (
	"cmp"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// sheetOrders is how many whole orders an export holds in memory.
const sheetOrders = 25

// sheetExport writes orders as a workbook in the language of the page, for people: a row
// an order, or a row an item.
type sheetExport struct {
	*sheetWriter
	words language
	items bool
	read  func(ids []int64) ([]order.Order, error)
}

// Keys of the headings of a workbook.
var (
	orderHeadings = []string{
		"order.reference", "own.reference", "order.placed", "dates.updated", "column.state", "sum.payment", "order.customer", "customer.email", "customer.phone",
		"export.country", "invoice.company", "invoice.vat", "invoice.office", "invoice.occupation", "invoice.address",
		"sum.subtotal", "sum.discount", "sum.other", "sum.shipping", "sum.shippingvat", "order.total", "export.currency", "files.heading", "files.kind", "files.number", "files.mark",
	}
	itemHeadings = []string{
		"order.reference", "own.reference", "order.placed", "column.state", "order.customer", "invoice.company", "invoice.vat",
		"items.product", "item.merchantsku", "item.sku", "item.ean", "items.quantity", "items.price", "items.base", "item.vatrate", "order.total", "export.currency",
	}
)

// beginSheet begins a workbook. The parameter items asks for a row an item.
func (s *site) beginSheet(stream *web.Stream) exporter {
	l := languageOf(stream.Request.Request)
	l.zone = s.zoneOf(stream.Request)
	e := sheetExport{words: l, items: stream.URL.Query().Get("items") != "", read: func(ids []int64) ([]order.Order, error) {
		return s.Orders.GetMany(stream.Context(), stream.Caller.MerchantID, ids)
	}}
	keys := orderHeadings
	if e.items {
		keys = itemHeadings
	}
	e.sheetWriter = newSheetWriter(stream, web.Collect(keys, func(key string) string { return l.text(key) }))
	return e
}

func (e sheetExport) page(orders []order.Summary) error {
	for part := range slices.Chunk(orders, sheetOrders) {
		whole, err := e.read(web.Collect(part, func(o order.Summary) int64 { return o.LegacyID }))
		if err != nil {
			return err
		}
		for i := range whole {
			if whole[i].Unreadable {
				e.unreadableRow(&whole[i])
			} else if e.items {
				e.itemRows(&whole[i])
			} else {
				e.orderRow(&whole[i])
			}
		}
	}
	return e.flush()
}

// invoiceOf returns the company and the VAT number of the invoice that the customer asked
// for, and the rest of what it needs; empty texts if none was asked for.
func invoiceOf(o *order.Order) (company, vat, office, occupation, address string) {
	d := o.InvoiceDetails
	if d == nil {
		return "", "", "", "", ""
	}
	return order.TextOf(d.Company), d.VATNumber, joined(" · ", order.TextOf(d.TaxOfficeCode), order.TextOf(d.TaxOfficeName)), order.TextOf(d.Occupation),
		joined(", ", order.TextOf(d.Address), joined(" ", order.TextOf(d.PostCode), order.TextOf(d.City)))
}

func (e sheetExport) orderRow(o *order.Order) {
	e.beginRow()
	e.text(o.Reference)
	e.text(order.TextOf(o.MerchantData.Reference))
	e.moment(o.CreatedAt, e.words.zone)
	e.moment(o.UpdatedAt, e.words.zone)
	e.text(e.words.text("state." + o.State.String()))
	e.text(e.words.payment(o.PaymentName))
	e.text(customerName(o))
	e.text(o.Customer.Email)
	e.text(order.TextOf(o.Customer.Phone))
	e.text(o.CountryCode)
	company, vat, office, occupation, address := invoiceOf(o)
	for _, text := range []string{company, vat, office, occupation, address} {
		e.text(text)
	}
	for _, amount := range []int64{o.Subtotal, -o.Discount, otherCharges(*o)} {
		e.amount(amount, o.Currency)
	}
	if o.ShippingAmount == nil {
		e.column++
	} else {
		e.amount(*o.ShippingAmount, o.Currency)
	}
	e.decimal(o.ShippingVATRate)
	e.amount(o.Total, o.Currency)
	e.text(o.Currency)
	e.number(int64(len(o.Invoices)))
	var kinds, numbers, marks []string
	for _, i := range o.Invoices {
		if i.Kind != "" {
			kinds = append(kinds, e.words.text("files.kind."+i.Kind))
		}
		numbers, marks = append(numbers, i.Number), append(marks, i.Mark)
	}
	for _, texts := range [][]string{kinds, numbers, marks} {
		e.text(joined(", ", texts...))
	}
	e.endRow()
}

// unreadableRow has what is known of an order whose details are damaged, and says so.
func (e sheetExport) unreadableRow(o *order.Order) {
	e.beginRow()
	e.text(o.Reference)
	e.text(order.TextOf(o.MerchantData.Reference))
	e.moment(o.CreatedAt, e.words.zone)
	if !e.items {
		e.moment(o.UpdatedAt, e.words.zone)
	}
	e.text(e.words.text("state." + o.State.String()))
	e.text(e.words.text("export.unreadable"))
	e.endRow()
}

func (e sheetExport) itemRows(o *order.Order) {
	company, vat, _, _, _ := invoiceOf(o)
	for _, item := range o.LineItems {
		e.beginRow()
		e.text(o.Reference)
		e.text(order.TextOf(o.MerchantData.Reference))
		e.moment(o.CreatedAt, e.words.zone)
		for _, text := range []string{
			e.words.text("state." + o.State.String()), customerName(o), company, vat,
			item.ProductName, item.MerchantSKU, item.SKU, cmp.Or(item.MerchantEAN, order.TextOf(item.EAN)),
		} {
			e.text(text)
		}
		e.number(item.Quantity)
		e.amount(item.UnitPrice, o.Currency)
		e.amount(item.BasePrice, o.Currency)
		e.decimal(item.VATRate)
		e.amount(item.TotalPrice, o.Currency)
		e.text(o.Currency)
		e.endRow()
	}
}

func customerName(o *order.Order) string {
	return joined(" ", o.Customer.FirstName, o.Customer.LastName, o.Customer.Company)
}
