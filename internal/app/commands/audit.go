package commands

import (
	"context"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/console"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/order"
)

type auditCommand struct {
	jsonFlag
	Merchant  string `placeholder:"N" help:"Only changes of this merchant; 0: changes that belong to no merchant. Empty: all."`
	Reference string `placeholder:"TEXT" help:"Only changes of the order with this reference."`
	TokenID   string `name:"token-id" placeholder:"N" help:"Only changes with the token of this id."`
	Action    string `placeholder:"WORD" help:"Only this action, such as order.state_changed."`
	From      string `placeholder:"DAY" help:"Only changes on or after this day (UTC), such as 2026-11-20."`
	To        string `placeholder:"DAY" help:"Only changes on or before this day (UTC)."`
	Limit     string `default:"100" placeholder:"N" help:"Maximum number of entries to print; 0: all."`
	Heads     bool   `help:"Instead, print the newest entry of each chain as one JSON document a line, for check --audit-heads."`

	query order.AuditQuery
	limit uint64
}

func (c *auditCommand) check() error {
	var f flagValues
	if c.Merchant != "" {
		id, ok := order.ParseID(c.Merchant)
		if c.query.MerchantID = &id; !ok && c.Merchant != "0" {
			f.refuse("merchant", "must be a whole number from 0")
		}
	}
	if c.query.Reference = c.Reference; c.Reference != "" && !order.ByReference(c.Reference).Valid() {
		f.refuse("reference", "is not the reference of an order")
	}
	c.query.TokenID = f.optionalID("token-id", c.TokenID)
	if c.query.Action = order.AuditAction(c.Action); c.Action != "" && !slices.Contains(console.AuditActions, c.Action) {
		f.refuse("action", "is none of "+strings.Join(console.AuditActions, ", "))
	}
	from, to := f.days(c.From, c.To)
	if from != order.NoDay {
		c.query.From = from.Start()
	}
	if to != order.NoDay {
		c.query.To = to.Start().AddDate(0, 0, 1)
	}
	c.limit = f.wholeNumber("limit", c.Limit, math.MaxInt64)
	return f.err()
}

// auditJSON is the JSON output of an entry of the audit log.
type auditJSON struct {
	MerchantID     int64     `json:"merchantId"` // 0: of no merchant
	Seq            int64     `json:"seq"`
	At             time.Time `json:"at"`
	Action         string    `json:"action"`
	Actor          string    `json:"actor"`
	TokenID        int64     `json:"tokenId,omitempty"`
	RequestID      string    `json:"requestId,omitempty"`
	Address        string    `json:"address,omitempty"`
	OrderID        int64     `json:"orderId,omitempty"`
	OrderReference string    `json:"orderReference,omitempty"`
	SubjectID      int64     `json:"subjectId,omitempty"`
	Detail         string    `json:"detail,omitempty"`
	Hash           string    `json:"hash"`
}

func newAuditJSON(e order.AuditEntry) auditJSON {
	return auditJSON{
		MerchantID: e.MerchantID, Seq: e.Seq, At: utc(e.At), Action: string(e.Action), Actor: e.By.Actor.String(),
		TokenID: e.By.TokenID, RequestID: e.By.RequestID, Address: e.By.Address,
		OrderID: e.LegacyID, OrderReference: e.Reference, SubjectID: e.SubjectID, Detail: e.Detail, Hash: hex.EncodeToString(e.Hash[:]),
	}
}

var auditHeading = []string{"TIME", "MERCHANT", "SEQ", "ACTION", "ACTOR", "ORDER", "SUBJECT", "DETAIL", "TOKEN", "REQUEST", "ADDRESS"}

func auditRow(e order.AuditEntry) []string {
	return []string{
		timestamp(e.At), numberOr(e.MerchantID), numberOr(e.Seq), textOr(string(e.Action)), e.By.Actor.String(), textOr(e.Reference),
		numberOr(e.SubjectID), textOr(e.Detail), numberOr(e.By.TokenID), textOr(e.By.RequestID), textOr(e.By.Address),
	}
}

// numberOr returns a number; "-" for 0.
func numberOr(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func (c *auditCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	if c.Heads {
		return p.printHeads(ctx, b)
	}
	n, more := uint64(0), false
	entries := func(yield func(order.AuditEntry, error) bool) {
		for e, err := range b.Audit.Entries(ctx, c.query) {
			if more = err == nil && n == c.limit && c.limit > 0; more {
				return
			}
			if n++; !yield(e, err) {
				return
			}
		}
	}
	err := printAll(p, c.JSON, auditHeading, entries, 0, auditRow, func(e order.AuditEntry) any { return newAuditJSON(e) })
	if more {
		p.printError("only the newest %d entries are printed; --limit 0 prints all", c.limit)
	}
	return err
}

// printHeads prints the heads of the audit log.
func (p *process) printHeads(ctx context.Context, b *app.Backend) error {
	heads, err := check.Heads(ctx, b.Installation().DB)
	for i := 0; err == nil && i < len(heads); i++ {
		err = p.printJSON(heads[i])
	}
	return err
}
