package check

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb"
)

// Head is the newest entry of a chain of the audit log at some time. One that is kept
// elsewhere shows later whether the chain was cut or replaced.
type Head struct {
	MerchantID int64  `json:"merchantId"` // 0: of what belongs to no merchant
	Seq        int64  `json:"seq"`
	Hash       string `json:"hash"` // hexadecimal
}

const (
	selectHeads = `SELECT m.id, a.seq, a.hash FROM merchants m JOIN audit a ON a.merchant_id = m.id AND a.seq = m.audit_seq ORDER BY m.id`
	selectHead  = `SELECT merchant_id, seq, hash FROM audit WHERE merchant_id = $1 AND seq = $2`
)

// Heads returns the heads of all chains that have entries.
func Heads(ctx context.Context, q sqldb.Querier) ([]Head, error) {
	last, err := lastServiceEntry(ctx, q)
	if err != nil {
		return nil, err
	}
	heads, err := sqldb.All(ctx, q, selectHead, []any{0, last}, scanHead)
	if err != nil {
		return nil, err
	}
	merchants, err := sqldb.All(ctx, q, selectHeads, nil, scanHead)
	return append(heads, merchants...), err
}

func scanHead(rows sqldb.Rows) (h Head, err error) {
	var hash []byte
	err = rows.Scan(&h.MerchantID, &h.Seq, &hash)
	h.Hash = hex.EncodeToString(hash)
	return h, err
}

// ReadHeads reads heads, one JSON document after the other.
func ReadHeads(r io.Reader) (heads []Head, err error) {
	lines := json.NewDecoder(r)
	for lines.More() {
		var h Head
		if err := lines.Decode(&h); err != nil || h.Seq < 1 || len(h.Hash) != hex.EncodedLen(32) {
			return nil, fmt.Errorf("document %d is not a line of audit --heads", len(heads)+1)
		}
		heads = append(heads, h)
	}
	return heads, nil
}

// checkHeads checks that the entries of heads are still there.
func checkHeads(ctx context.Context, q sqldb.Querier, heads []Head, reporter *maintenance.Reporter) error {
	for _, want := range heads {
		found, err := sqldb.All(ctx, q, selectHead, []any{want.MerchantID, want.Seq}, scanHead)
		if err != nil {
			return err
		}
		if !slices.Equal(found, []Head{want}) {
			reporter.Find(maintenance.Finding{
				MerchantID: want.MerchantID, Cure: cureAudit,
				Problem: fmt.Sprintf("audit entry %d is not the one of --audit-heads: the log was cut or replaced, or an older backup restored", want.Seq),
			})
		}
	}
	return nil
}
