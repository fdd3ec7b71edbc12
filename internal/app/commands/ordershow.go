package commands

import (
	"context"
	"strconv"

	"merchantorders/client"
	"merchantorders/internal/order"
)

type ordersShow struct{ orderTarget }

func (c *ordersShow) run(ctx context.Context, p *process) error {
	order, err := c.service.Order(ctx, c.Reference)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(order)
	}
	return p.printOrder(order)
}

// printOrder prints an order as text.
func (p *process) printOrder(o client.Order) error {
	return p.printSections(
		section{[]string{"ORDER", textOr(o.Reference)}, orderFields(o)},
		newSection([]string{"QUANTITY", "SKU", "PRICE", "TOTAL", "VAT", "PRODUCT"}, o.LineItems, func(line client.LineItem) []string {
			return []string{
				strconv.FormatInt(line.Quantity, 10), textOr(line.SKU), amount(line.UnitPrice), amount(line.TotalPrice), textOr(line.VATRate), textOr(line.ProductName),
			}
		}),
		newSection(invoiceHeading, o.Invoices, invoiceRow),
	)
}

// orderFields returns the names and values of the fields of an order.
func orderFields(o client.Order) [][]string {
	a := o.Address
	fields := [][]string{
		{"State", textOr(string(o.State))},
		{"Created", timestamp(o.CreatedAt)},
		{"Updated", timestamp(o.UpdatedAt)},
		{"Expires", timestamp(o.ExpiresAt)},
		{"Dispatch until", timestamp(o.DispatchUntil)},
		{"Total", amount(o.TotalItemsAmount)},
		{"Subtotal", amount(o.SubTotalItemsAmount)},
		{"Payment", textOr(o.Payment.Name)},
		{"Customer", textOr(o.Customer.FirstName, o.Customer.LastName)},
		{"E-mail", textOr(o.Customer.Email)},
		{"Phone", textOr(order.TextOf(o.Customer.Phone))},
		{"Address", textOr(a.Street, a.StreetNumber)},
		{"City", textOr(a.PostCode, a.City, a.Region, a.CountryCode)},
		{"Carrier", textOr(o.Carrier.Name, o.Carrier.DeliveryName)},
		{"Tracking", textOr(o.Carrier.TrackingCodes)},
	}
	if o.ShippingAmount != nil {
		fields = append(fields, []string{"Shipping", amount(*o.ShippingAmount)}, []string{"VAT of shipping", textOr(o.ShippingVATRate)})
	}
	if d := o.InvoiceDetails; d != nil {
		fields = append(fields,
			[]string{"Invoice to", textOr(order.TextOf(d.Company))},
			[]string{"VAT number", textOr(d.VATNumber)},
			[]string{"Tax office", textOr(order.TextOf(d.TaxOfficeCode), order.TextOf(d.TaxOfficeName))},
		)
	}
	return fields
}

var invoiceHeading = []string{"INVOICE", "UPLOADED", "ADDRESS"}

func invoiceRow(i client.Invoice) []string {
	return []string{strconv.FormatInt(i.ID, 10), timestamp(i.CreatedAt), textOr(i.URL)}
}
