package maintenance

import (
	"fmt"
	"strings"
	"sync"
)

// Finding is a problem in an installation. The zero value of an id means that
// the finding is not about one merchant, order or invoice.
type Finding struct {
	MerchantID     int64
	OrderLegacyID  int64
	OrderReference string // empty if it is not known
	InvoiceID      int64
	Problem        string
}

// String returns the finding as one line, such as "merchant 355, order T-1,
// invoice 2: problem". It names an order by its legacy id if the reference is
// not known.
func (f Finding) String() string {
	var subjects []string
	if f.MerchantID != 0 {
		subjects = append(subjects, fmt.Sprintf("merchant %d", f.MerchantID))
	}
	switch {
	case f.OrderReference != "":
		subjects = append(subjects, "order "+f.OrderReference)
	case f.OrderLegacyID != 0:
		subjects = append(subjects, fmt.Sprintf("order %d", f.OrderLegacyID))
	}
	if f.InvoiceID != 0 {
		subjects = append(subjects, fmt.Sprintf("invoice %d", f.InvoiceID))
	}
	if len(subjects) == 0 {
		return f.Problem
	}
	return strings.Join(subjects, ", ") + ": " + f.Problem
}

// Reporter counts findings and passes them on. It is safe for concurrent use.
// The zero value only counts.
type Reporter struct {
	// OnFinding is called for each finding, and OnProgress with how much of a
	// stage is done. There is one call at a time. Each may be nil.
	OnFinding  func(Finding)
	OnProgress func(stage string, done, total int64)

	mu       sync.Mutex
	findings int64
	stage    string
	done     int64 // of the stage
}

// Find reports a finding.
func (r *Reporter) Find(finding Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings++
	if r.OnFinding != nil {
		r.OnFinding(finding)
	}
}

// Findings returns the number of findings.
func (r *Reporter) Findings() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings
}

// Advance reports that n more items of a stage are done. Another stage begins
// at 0.
func (r *Reporter) Advance(stage string, n, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage != stage {
		r.stage, r.done = stage, 0
	}
	r.done += n
	if r.OnProgress != nil {
		r.OnProgress(stage, min(r.done, total), total)
	}
}
