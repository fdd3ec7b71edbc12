package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"math"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// auditChain is where the next entries of the audit log go: the end of a merchant's
// chain, locked until the transaction ends.
type auditChain struct {
	merchantID int64
	last       int64             // number of the newest entry
	hash       [sha256.Size]byte // of that entry; zeros if there is none
}

// Statements that take numbers of a chain. They return the last of the numbers and the
// hash of the entry before the first one. PostgreSQL, after a wait for the lock, does
// not see rows that were committed meanwhile: then the hash is NULL.
const (
	selectAuditHash = `SELECT hash FROM audit WHERE merchant_id = $1 AND seq = $2`

	takeAuditNumbers = `UPDATE merchants SET audit_seq = audit_seq + $1 WHERE id = $2
		RETURNING audit_seq, (SELECT hash FROM audit WHERE merchant_id = $2 AND seq = audit_seq - $1)`
	takeServiceAuditNumbers = `UPDATE counters SET last = last + $1 WHERE name = 'audit' RETURNING last`
)

// chainBefore returns the chain of a merchant as it was before n numbers were taken,
// the last of which is last. hash is that of the entry before, if it was read already.
func (t *tx) chainBefore(ctx context.Context, merchantID, last int64, n int, hash []byte) (auditChain, error) {
	chain := auditChain{merchantID: merchantID, last: last - int64(n)}
	if hash == nil && chain.last > 0 {
		err := t.QueryRow(ctx, selectAuditHash, []any{merchantID, chain.last}, &hash)
		// A missing entry breaks the chain, which the command check reports. It must
		// not stop the service.
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return auditChain{}, err
		}
	}
	copy(chain.hash[:], hash)
	return chain, nil
}

// AppendAudit implements order.Tx and delivery.Tx.
func (t *tx) AppendAudit(_ context.Context, entry order.AuditEntry) error {
	t.addAudit(entry.MerchantID, entry)
	return nil
}

var insertAudit = sqldb.NewBulkInsert("audit", AuditColumns, "")

// add makes an entry the next one of the chain, and appends the values of its row of
// insertAudit.
func (c *auditChain) add(values []any, e order.AuditEntry) []any {
	c.last++
	e.MerchantID, e.Seq, e.Detail = c.merchantID, c.last, e.StoredDetail()
	c.hash = e.Sum(c.hash)
	return append(values, e.MerchantID, e.Seq, e.At.Unix(), string(e.Action), int64(e.By.Actor), e.By.TokenID, e.By.RequestID,
		e.By.Address, e.LegacyID, e.Reference, e.SubjectID, e.Detail, append([]byte(nil), c.hash[:]...))
}

const (
	// maxAuditScan is how many entries are read for a page. A filter that selects few
	// of them gets a short page and a cursor.
	maxAuditScan = 10_000
	// maxClockSkew bounds by how much an entry of a chain may be older than the one
	// before: the clocks of the instances differ.
	maxClockSkew = 24 * time.Hour
)

// Statements that read entries, each in the order of an index.
const (
	// AuditColumns are the columns of an entry, as ScanAudit takes them.
	AuditColumns = `merchant_id, seq, at, action, actor, token_id, request_id, address, legacy_id, reference, subject_id, detail, hash`

	// The index alone yields the keys first: SQLite would scan the whole chain.
	selectAuditOfOrder = `SELECT ` + AuditColumns + ` FROM (
			SELECT seq AS n FROM audit WHERE merchant_id = $1 AND legacy_id = $2 AND legacy_id <> 0 AND seq < $3 ORDER BY seq DESC LIMIT $4+0
		) k CROSS JOIN audit a WHERE a.merchant_id = $1 AND a.seq = k.n ORDER BY a.seq DESC`
	selectAuditOfMerchant = `SELECT ` + AuditColumns + ` FROM audit
		WHERE merchant_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3+0`
	selectAuditByTime = `SELECT ` + AuditColumns + ` FROM audit
		WHERE at >= $1 AND (at, merchant_id, seq) < ($2, $3, $4) ORDER BY at DESC, merchant_id DESC, seq DESC LIMIT $5+0`
)

// ScanAudit scans a row of AuditColumns.
func ScanAudit(rows sqldb.Rows, e *order.AuditEntry) error {
	return rows.Scan(&e.MerchantID, &e.Seq, sqldb.Time(&e.At), (*string)(&e.Action), sqldb.Int(&e.By.Actor), &e.By.TokenID, &e.By.RequestID,
		&e.By.Address, &e.LegacyID, &e.Reference, &e.SubjectID, &e.Detail, &e.Hash)
}

// errPageEnd ends the reading of a page.
var errPageEnd = errors.New("the end of the page")

// AuditLog implements order.Store.
func (db *DB) AuditLog(ctx context.Context, query order.AuditQuery) (_ order.AuditPage, err error) {
	defer db.observe(&ctx, "audit")(&err)
	text, args, err := db.auditStatement(ctx, query)
	if errors.Is(err, order.ErrNotFound) {
		return order.AuditPage{}, nil // there is no such order
	}
	var page order.AuditPage
	if err == nil {
		page, err = readAuditPage(ctx, db.sql, query, text, args)
	}
	return page, db.readError("read the audit log", err, nil)
}

// readAuditPage reads the rows of a statement until the page is full. The last argument
// is the maximum number of rows.
func readAuditPage(ctx context.Context, q sqldb.Querier, query order.AuditQuery, text string, args []any) (page order.AuditPage, err error) {
	var e order.AuditEntry // the last one that was read
	more, rest := false, args[len(args)-1].(int)
	err = q.Query(ctx, text, args, func(rows sqldb.Rows) error {
		if more = len(page.Entries) == query.Limit; more {
			return errPageEnd
		}
		if err := ScanAudit(rows, &e); err != nil {
			return err
		}
		if query.MerchantID != nil && e.At.Before(query.From.Add(-maxClockSkew)) {
			return errPageEnd
		}
		if query.Selects(&e) {
			page.Entries = append(page.Entries, e)
		}
		rest--
		more = rest == 0
		return nil
	})
	if more {
		page.Next = &order.AuditCursor{At: e.At, MerchantID: e.MerchantID, Seq: e.Seq}
	}
	if errors.Is(err, errPageEnd) {
		err = nil
	}
	return page, err
}

// Statements that find how a token was created: in any chain, and in that of a merchant. The
// index alone yields the keys, as in selectAuditOfOrder.
const (
	selectTokenDetail = `SELECT a.detail FROM (SELECT merchant_id AS m, seq AS n FROM audit WHERE action = 'token.created' AND subject_id = $1) k
		CROSS JOIN audit a WHERE a.merchant_id = k.m AND a.seq = k.n`
	selectTokenDetailOf = selectTokenDetail + ` AND k.m = $2`
)

// CreationDetails implements token.Store. Without a merchant it is for operators.
func (db *DB) CreationDetails(ctx context.Context, merchantID int64, ids []int64) (_ map[int64]string, err error) {
	defer db.observe(&ctx, "audit")(&err)
	details := make(map[int64]string)
	err = db.sql.QueryMany(ctx, func(yield func(string, []any) bool) {
		for _, id := range ids {
			text, args := selectTokenDetail, []any{id}
			if merchantID != 0 {
				text, args = selectTokenDetailOf, []any{id, merchantID}
			}
			if !yield(text, args) {
				return
			}
		}
	}, func(n int, rows sqldb.Rows) error {
		var detail string
		err := rows.Scan(&detail)
		details[ids[n]] = detail
		return err
	})
	return details, db.readError("read the names of deleted tokens", err, nil)
}

// auditStatement returns the statement that reads at least a page of a query, and its
// arguments. It returns order.ErrNotFound if the query is for an order that does not exist.
func (db *DB) auditStatement(ctx context.Context, query order.AuditQuery) (string, []any, error) {
	// One more than the page has tells whether others follow. A cursor after a page is
	// correct in any case.
	limit, before := maxAuditScan, int64(math.MaxInt64)
	if plain := (order.AuditQuery{MerchantID: query.MerchantID, Reference: query.Reference, After: query.After, Limit: query.Limit}); plain == query {
		limit = query.Limit + 1
	}
	if query.After != nil {
		before = query.After.Seq
	}
	switch {
	case query.Reference != "":
		merchantID, err := db.OrderMerchant(ctx, query.Reference)
		var at order.Cursor // also of a deleted order
		if err == nil {
			at, err = db.OrderCursor(ctx, merchantID, query.Reference)
		}
		return selectAuditOfOrder, []any{merchantID, at.LegacyID, before, limit}, err
	case query.MerchantID != nil:
		return selectAuditOfMerchant, []any{*query.MerchantID, before, limit}, nil
	}
	from, end := int64(math.MinInt64), []any{int64(math.MaxInt64), int64(0), int64(0)}
	if !query.From.IsZero() {
		from = query.From.Unix()
	}
	if !query.To.IsZero() {
		end[0] = query.To.Unix()
	}
	if query.After != nil {
		end = []any{query.After.At.Unix(), query.After.MerchantID, query.After.Seq}
	}
	return selectAuditByTime, append(append([]any{from}, end...), limit), nil
}
