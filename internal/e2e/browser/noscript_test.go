package browser

import (
	"fmt"
	"testing"
)

// useNoScripts works in a browser that runs no scripts.
func (p *user) useNoScripts(t *testing.T) {
	p.signIn(t, p.Token)
	p.see(t, "/console/orders/C-15", "h2", "is waiting for your answer")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice.good", "The order is accepted.")

	// The server refuses what a script would have.
	p.choose(t, "1.pdf", `"x"`, "x.html", `"x"`)
	p.wait(t, ".notice.bad", "x.html: The file is not a PDF, PNG or JPEG.")
	p.forgive("status of 400")
	p.choose(t, "plain.pdf", `"x"`)
	p.wait(t, ".notice.good", "The files are stored.")
	p.click(t, ".files .button")
	p.wait(t, "h1", "Withdraw this file?")
	p.click(t, "main .danger")
	p.wait(t, ".notice.good", "The file is withdrawn.")

	p.see(t, "/console/orders/C-16", "h2", "is waiting for your answer")
	p.click(t, ".reject summary")
	p.set(t, "#reason", "damaged")
	p.click(t, ".reject button.danger")
	p.wait(t, ".notice.good", "The order is rejected.")

	p.see(t, "/console/new", "h2", "orders")
	p.click(t, ".actionbar .primary")
	p.wait(t, ".notice.bad", "No order was selected.")
	p.forgive("status of 422")
	p.click(t, `input[value="C-17"]`)
	p.click(t, `.actionbar [value="/print"]`)
	p.wait(t, "h1", "1 packing slip")
	p.see(t, "/console/new", "h2", "orders")
	for n := range 3 {
		p.click(t, fmt.Sprintf(`input[value="C-%d"]`, 17+n))
	}
	p.accept(t, "C-18")
	p.click(t, ".actionbar .primary")
	p.wait(t, ".notice.good", "2 orders were accepted.")
	p.wait(t, ".notice.bad", "1 order was not accepted:")
	p.see(t, "/console/invoices", ".ref", "C-17")
	p.choose(t, "C-17.pdf", `"x"`)
	p.wait(t, ".notice.good", "1 invoice is stored.")
}
