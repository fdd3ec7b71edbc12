package demo

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"merchantorders/internal/order"
)

// withInvoice are the states whose newest order has an invoice file.
var withInvoice = []order.State{order.PickedByCourier, order.DeliveredToCustomer, order.Completed}

// addInvoices uploads the invoice files.
func addInvoices(ctx context.Context, orders *order.Service) error {
	for _, state := range withInvoice {
		newest, err := newestOrders(ctx, orders, 1, state)
		if err != nil {
			return err
		}
		o := newest[0]
		text := fmt.Sprintf("%s - invoice for order %s, total %s %s", MerchantName, o.Reference, order.Decimal(o.Total, o.Currency), o.Currency)
		if err := upload(ctx, orders, o.Reference, "invoice-"+o.Reference+".pdf", PDF(text)); err != nil {
			return err
		}
	}
	return nil
}

func upload(ctx context.Context, orders *order.Service, reference, filename string, content []byte) error {
	staged, err := order.StageContent(ctx, orders.StageFile, bytes.NewReader(content))
	if err != nil {
		return err
	}
	defer staged.Staged.Abort()
	_, err = orders.Upload(ctx, order.CommandFor(MerchantID), order.ByReference(reference), filename, staged, order.Options[order.WriteResult]{})
	return err
}

// PDF returns a PDF of one page with one line of ASCII text.
func PDF(line string) []byte {
	escaped := strings.NewReplacer("(", `\(`, ")", `\)`, `\`, `\\`).Replace(line)
	text := "BT /F1 14 Tf 60 760 Td (" + escaped + ") Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var file bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	// The table lists the offset of each object.
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := file.Len()
	fmt.Fprintf(&file, "%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table, len(objects)+1, start)
	return file.Bytes()
}
