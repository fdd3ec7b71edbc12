package order

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// AuditAction is what was done, such as "order.created". The texts are stored and
// published. Those of orders and files are the names of the event types.
type AuditAction string

// AuditEntry is an entry of the audit log: who did what, when, and from where. Entries
// are never changed or deleted. They hold no personal data of customers: only ids,
// references, names of states and fields, and who ran a command for which ticket.
type AuditEntry struct {
	// MerchantID is whose chain the entry is in; 0 for what belongs to no merchant.
	MerchantID int64
	// Seq numbers the entries of a chain 1, 2, 3, ... in commit order without gaps.
	// The store assigns it.
	Seq    int64
	At     time.Time // in whole seconds
	Action AuditAction
	By     Caller // its actor, token, request id and address are stored

	LegacyID  int64  // of the order; 0: none
	Reference string // of the order; empty: none
	SubjectID int64  // of the file, token or webhook; 0: none
	// Detail has words of the form key=value, separated by spaces: see AuditDetail.
	Detail string
	// Hash is Sum of the entry with the hash of the entry before it. The store sets it.
	Hash [sha256.Size]byte
}

// Sum returns the hash of the entry in its chain: the SHA-256 of the hash of the entry
// before, 32 zeros for the first one, and of all fields but Hash. Numbers are eight
// bytes, big-endian, the time in seconds; a text follows its length.
func (e *AuditEntry) Sum(previous [sha256.Size]byte) [sha256.Size]byte {
	var space [512]byte
	b := append(space[:0], previous[:]...)
	for _, n := range []int64{e.MerchantID, e.Seq, e.At.Unix(), int64(e.By.Actor), e.By.TokenID, e.LegacyID, e.SubjectID} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, s := range []string{string(e.Action), e.By.RequestID, e.By.Address, e.Reference, e.Detail} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// AuditDetail returns a detail of keys and values, which alternate. It leaves out the
// keys with empty values. No key or value may contain a space.
func AuditDetail(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(pairs[i] + "=" + pairs[i+1])
	}
	return b.String()
}

// StoredDetail returns the detail as it is stored: for a command, with who ran it and the
// ticket.
func (e *AuditEntry) StoredDetail() string {
	if e.By.TokenID != 0 || e.By.Actor == ActorMerchant {
		return e.Detail // the token says who
	}
	by := AuditDetail("by", e.By.Name, "ticket", e.By.Ticket)
	if e.Detail == "" || by == "" {
		return e.Detail + by
	}
	return e.Detail + " " + by
}

// AuditWordProblem returns what is wrong with a name or a ticket of a command, which
// become words of a detail; empty: nothing. An empty text is allowed.
func AuditWordProblem(text string) string {
	// Not a regular expression: repeated, those of Unicode's letters take 2.5 MB at each start.
	other := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("._+@#/:-", r)
	})
	if other < 0 && utf8.RuneCountInString(text) <= 64 {
		return ""
	}
	return "must be up to 64 letters, digits, and characters of . _ - + @ # / : without a space"
}

// Audit returns the audit entry of an event of an order.
func (e Event) Audit(o LockedOrder) AuditEntry {
	entry := AuditEntry{
		MerchantID: o.MerchantID, At: e.At, Action: AuditAction(e.Type.String()), By: e.By,
		LegacyID: o.LegacyID, Reference: o.Reference, SubjectID: e.InvoiceID,
	}
	switch {
	case e.Type == OrderDeleted:
		entry.Detail = "from=" + e.From.String()
	case e.From != 0:
		entry.Detail = "from=" + e.From.String() + " to=" + e.To.String()
	case e.To != 0:
		entry.Detail = "to=" + e.To.String()
	case !e.ExpiresAt.IsZero():
		entry.Detail = "expiresAt=" + e.ExpiresAt.UTC().Format(time.RFC3339)
	case len(e.Fields) > 0:
		entry.Detail = "fields=" + strings.Join(e.Fields, ",")
	}
	return entry
}

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
