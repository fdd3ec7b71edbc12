// Package maintenance has what the maintenance commands share: the
// installation they work on, findings and progress, and the invoice files that
// an installation must have. The commands are in its subpackages:
//
//	check    verifies an installation
//	copier   copies an installation to another database and storage
//	backup   backs up and restores an embedded installation
//	citus    distributes the tables over a Citus cluster
//
// These packages read and write tables directly: they move or verify rows
// without the rules of package order.
package maintenance

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Installation is a database and the storage of its invoice files.
type Installation struct {
	DB    sqldb.DB
	Files Files
}

// Files is a storage whose files can be listed.
type Files interface {
	order.Files
	// Each calls fn with the path of every stored file.
	Each(ctx context.Context, fn func(path string) error) error
}

// Slice runs fn in a snapshot, without time limits. It is for work that reads everything in
// short snapshots, one after the other: the log of a database file holds what others commit
// during one, and cannot begin anew while the next snapshot begins before it has been
// written into the file. So Slice truncates a log that is long.
func Slice(ctx context.Context, db sqldb.DB, fn func(sqldb.Querier) error) error {
	err := db.Snapshot(ctx, func(q sqldb.Querier) error { return fn(q.WithoutTimeout()) })
	_ = db.TruncateLog(ctx) // the next slice tries again
	return err
}

// CountOrders counts the orders of all merchants.
const CountOrders = `SELECT COUNT(*) FROM orders`

// Statements for PerMerchant.
const (
	LastEvents  = `SELECT id, last_event FROM merchants` // the number of the newest event
	OrderCounts = `SELECT merchant_id, COUNT(*) FROM orders GROUP BY merchant_id`
	// DeletedCounts counts the orders that were deleted after the retention time.
	DeletedCounts  = `SELECT merchant_id, COUNT(*) FROM deleted_orders GROUP BY merchant_id`
	OrderKeyCounts = `SELECT merchant_id, COUNT(*) FROM order_keys GROUP BY merchant_id`
)

// PerMerchant returns the rows of a statement, which are merchant ids with a
// number. The counts have no row for a merchant with none.
func PerMerchant(ctx context.Context, q sqldb.Querier, statement string) (map[int64]int64, error) {
	numbers := make(map[int64]int64)
	err := q.Query(ctx, statement, nil, func(rows sqldb.Rows) error {
		var id, n int64
		err := rows.Scan(&id, &n)
		numbers[id] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	return numbers, nil
}

// Finding is a problem in an installation. The zero value of an id means that
// the finding is not about one merchant, order or invoice.
type Finding struct {
	MerchantID     int64
	OrderLegacyID  int64
	OrderReference string // empty if it is not known
	InvoiceID      int64
	Problem        string
	Cure           string // what to do, such as "check again"; empty: nothing is known
}

// Cures of several findings.
const (
	CureFile = "put the file back from a backup, then check again"
	CureRows = "it cannot be repaired: restore a backup that check --backup finds right"
)

// String returns the finding as one line, such as "merchant 355, order T-1,
// invoice 2: problem; cure". It names an order by its legacy id if the reference is
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
	text := f.Problem
	if len(subjects) > 0 {
		text = strings.Join(subjects, ", ") + ": " + text
	}
	if f.Cure != "" {
		text += "; " + f.Cure
	}
	return text
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
