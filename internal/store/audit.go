package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

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

// appendAudit appends an entry to the chain of a merchant, 0 for the chain of what
// belongs to no merchant. It locks the chain until the transaction ends, so it is
// among the last statements of a change. The merchant must exist. Changes of orders
// and files need no call: appendEvent appends their entries.
func (t *tx) appendAudit(ctx context.Context, merchantID int64, entry order.AuditEntry) error {
	var last int64
	var hash []byte
	var err error
	if merchantID == 0 {
		err = t.QueryRow(ctx, takeServiceAuditNumbers, []any{1}, &last)
	} else {
		err = t.QueryRow(ctx, takeAuditNumbers, []any{1, merchantID}, &last, &hash)
	}
	if err != nil {
		return err
	}
	chain, err := t.chainBefore(ctx, merchantID, last, 1, hash)
	if err != nil {
		return err
	}
	return t.insert(ctx, insertAudit, chain.add(nil, entry))
}

// AppendAudit implements order.Tx.
func (t *tx) AppendAudit(ctx context.Context, entry order.AuditEntry) error {
	return t.appendAudit(ctx, entry.MerchantID, entry)
}

var insertAudit = sqldb.NewBulkInsert("audit", `merchant_id, seq, at, action, actor, token_id, request_id, address,
	legacy_id, reference, subject_id, detail, hash`, "")

// add makes an entry the next one of the chain, and appends the values of its row of
// insertAudit.
func (c *auditChain) add(values []any, e order.AuditEntry) []any {
	c.last++
	e.MerchantID, e.Seq = c.merchantID, c.last
	c.hash = e.Sum(c.hash)
	return append(values, e.MerchantID, e.Seq, e.At.Unix(), string(e.Action), int64(e.By.Actor), e.By.TokenID, e.By.RequestID,
		e.By.Address, e.LegacyID, e.Reference, e.SubjectID, e.Detail, append([]byte(nil), c.hash[:]...))
}
