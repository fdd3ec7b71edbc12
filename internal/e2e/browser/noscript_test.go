package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/testenv"
)

// useNoScripts works in a browser that runs no scripts.
func (p *staff) useNoScripts(t *testing.T) {
	command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	defer command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.signIn(t, p.Token)
	p.see(t, "/console/orders/C-15", "h2", "is waiting for your answer")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice.good", "The order is accepted.")

	file := filepath.Join(t.TempDir(), "plain.pdf")
	testenv.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	p.run(t, chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	p.click(t, ".upload button")
	p.wait(t, ".notice.good", "The files are stored.")
	p.click(t, ".files .button")
	p.wait(t, "h1", "Withdraw this file?")
	p.click(t, "main .danger")
	p.wait(t, ".notice.good", "The file is withdrawn.")

	p.see(t, "/console/orders/C-16", "h2", "is waiting for your answer")
	p.click(t, ".reject summary")
	p.run(t, chromedp.SetValue(chromedp.CSS("#reason"), "damaged"))
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
	invoice := filepath.Join(t.TempDir(), "C-17.pdf")
	testenv.NoError(t, os.WriteFile(invoice, []byte("x"), 0o600))
	p.see(t, "/console/invoices", ".ref", "C-17")
	p.run(t, chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{invoice}))
	p.click(t, ".upload button")
	p.wait(t, ".notice.good", "1 invoice is stored.")
	p.export(t, "?q=C-18&state=in-processing", "C-18")
}
