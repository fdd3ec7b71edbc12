package order

import (
	"context"
	"iter"
	"time"
)

// Limits of one page of the audit log.
const (
	DefaultAuditLimit = 100
	MaxAuditLimit     = 1000
)

// AuditQuery selects entries of the audit log, newest first. The zero value of a field
// selects all.
type AuditQuery struct {
	MerchantID *int64 // 0 selects what belongs to no merchant
	Reference  string // of an order
	TokenID    int64
	Action     AuditAction
	From       time.Time // inclusive
	To         time.Time // exclusive
	// After is the last entry of the previous page; nil: the page is the first one.
	After *AuditCursor
	Limit int // maximum number of entries, 1 to MaxAuditLimit
}

// Selects reports whether the query selects an entry. It leaves Reference and After to
// the store.
func (q *AuditQuery) Selects(e *AuditEntry) bool {
	return (q.MerchantID == nil || *q.MerchantID == e.MerchantID) &&
		(q.TokenID == 0 || q.TokenID == e.By.TokenID) &&
		(q.Action == "" || q.Action == e.Action) &&
		(q.From.IsZero() || !e.At.Before(q.From)) &&
		(q.To.IsZero() || e.At.Before(q.To))
}

// AuditCursor is the sort key of an entry: entries are sorted by time, merchant and
// number.
type AuditCursor struct {
	At              time.Time
	MerchantID, Seq int64
}

// AuditPage is a page of the audit log. A page may have fewer entries than the limit,
// and none at all, although others follow: a store reads a bounded number of entries
// for each page.
type AuditPage struct {
	Entries []AuditEntry
	Next    *AuditCursor // nil: this is the last page
}

// AuditStore holds the audit log. Every method may return ErrUnavailable.
type AuditStore interface {
	// AuditLog returns a page of the audit log.
	AuditLog(ctx context.Context, query AuditQuery) (AuditPage, error)
}

// AuditLog reads the audit log. Every change appends its entry itself.
type AuditLog struct{ store AuditStore }

// NewAuditLog returns the audit log of a store.
func NewAuditLog(store AuditStore) *AuditLog { return &AuditLog{store} }

// Page returns a page of the audit log.
func (l *AuditLog) Page(ctx context.Context, query AuditQuery) (AuditPage, error) {
	return l.store.AuditLog(ctx, query)
}

// Entries yields all entries that a query selects. It ignores the limit of the
// query and holds one page in memory.
func (l *AuditLog) Entries(ctx context.Context, query AuditQuery) iter.Seq2[AuditEntry, error] {
	return func(yield func(AuditEntry, error) bool) {
		query.Limit = MaxAuditLimit
		for {
			page, err := l.store.AuditLog(ctx, query)
			if err != nil {
				yield(AuditEntry{}, err)
				return
			}
			for _, e := range page.Entries {
				if !yield(e, nil) {
					return
				}
			}
			if query.After = page.Next; page.Next == nil {
				return
			}
		}
	}
}
