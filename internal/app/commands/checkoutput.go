package commands

import (
	"errors"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
)

// checkOutput prints what a check finds, as text or as one JSON document a line.
type checkOutput struct {
	*process
	json bool
	// later are printed at the end, so that they do not disturb a progress bar: each
	// is a line of text or a value for JSON.
	later []any
	err   error // of a write
}

// checkLine is the JSON output of one result of a check.
type checkLine struct {
	Type string `json:"type"` // finding, orphan or repaired

	// Of a finding.
	MerchantID     int64  `json:"merchantId,omitempty"`
	OrderReference string `json:"orderReference,omitempty"`
	InvoiceID      int64  `json:"invoiceId,omitempty"`
	Problem        string `json:"problem,omitempty"`
	Cure           string `json:"cure,omitempty"`

	Path      string `json:"path,omitempty"`      // of an orphan
	Removable bool   `json:"removable,omitempty"` // check --repair removes the orphan
	Text      string `json:"text,omitempty"`      // of a repair: what was done
}

// checkSummary is the JSON output at the end of a check.
type checkSummary struct {
	Type      string `json:"type"` // summary
	Merchants int64  `json:"merchants"`
	Orders    int64  `json:"orders"`
	Invoices  int64  `json:"invoices"`
	Events    int64  `json:"events"`
	Files     int64  `json:"files"`
	Orphans   int64  `json:"orphans"`
	Findings  int64  `json:"findings"`
}

// finding prints a finding at once, as JSON.
func (o *checkOutput) finding(f maintenance.Finding) {
	o.err = errors.Join(o.err, o.printJSON(checkLine{
		Type: "finding", MerchantID: f.MerchantID, OrderReference: f.OrderReference, InvoiceID: f.InvoiceID, Problem: f.Problem, Cure: f.Cure,
	}))
}

func (o *checkOutput) orphan(orphan maintenance.Orphan) {
	o.add("orphan: "+orphan.String(), checkLine{Type: "orphan", Path: orphan.Path, Removable: orphan.Removable})
}

func (o *checkOutput) repaired(text string) {
	o.add("repaired: "+text, checkLine{Type: "repaired", Text: text})
}

func (o *checkOutput) add(text string, line checkLine) {
	if o.json {
		o.later = append(o.later, line)
	} else {
		o.later = append(o.later, text)
	}
}

// flush prints what was kept for the end.
func (o *checkOutput) flush() error {
	for _, line := range o.later {
		if text, ok := line.(string); ok {
			o.err = errors.Join(o.err, o.print("%s", text))
		} else {
			o.err = errors.Join(o.err, o.printJSON(line))
		}
	}
	return o.err
}

// summary prints a summary, which begins with a verb unless it is JSON. It returns an error if
// there are findings.
func (o *checkOutput) summary(verb string, r check.Result) error {
	findings := "no findings"
	if r.Findings > 0 {
		findings = count(r.Findings, "finding", "findings")
	}
	err := o.err
	if o.json {
		err = errors.Join(err, o.printJSON(checkSummary{
			Type: "summary", Merchants: r.Merchants, Orders: r.Orders, Invoices: r.Invoices, Events: r.Events,
			Files: r.Files, Orphans: r.Orphans, Findings: r.Findings,
		}))
	} else {
		err = errors.Join(err, o.print("%s: merchants %d, orders %d, invoices %d, events %d, files %d, orphans %d: %s",
			verb, r.Merchants, r.Orders, r.Invoices, r.Events, r.Files, r.Orphans, findings))
	}
	if err == nil && r.Findings > 0 {
		err = errors.New(findings)
	}
	return err
}
