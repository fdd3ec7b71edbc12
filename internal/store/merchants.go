package store

import (
	"context"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// AddMerchant implements order.Tx.
func (t *tx) AddMerchant(ctx context.Context, merchant order.Merchant, entry order.AuditEntry) error {
	n, err := t.Exec(ctx, `INSERT INTO merchants (id, name, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO NOTHING`, merchant.ID, merchant.Name, merchant.CreatedAt.Unix())
	if err != nil {
		return err
	}
	if n > 0 {
		t.addAudit(merchant.ID, entry)
		return nil
	}
	var name string
	if err := t.QueryRow(ctx, `SELECT name FROM merchants WHERE id = $1`, []any{merchant.ID}, &name); err != nil {
		return err
	}
	if name != merchant.Name {
		return order.ErrMerchantExists
	}
	return nil
}

// selectMerchants is completed by a condition.
const selectMerchants = `SELECT id, name, created_at, suspended_at, suspension_reason, rate_limit, rate_burst, time_zone,
	slip_name, return_address, tracking_link FROM merchants `

// merchantDest returns the Scan destinations of selectMerchants.
func merchantDest(m *order.Merchant) []any {
	return []any{
		&m.ID, &m.Name, sqldb.Time(&m.CreatedAt), sqldb.Time(&m.SuspendedAt), &m.SuspensionReason,
		sqldb.Int(&m.RateLimit.PerSecond), sqldb.Int(&m.RateLimit.Burst), &m.TimeZone,
		&m.Slip.Name, &m.Slip.ReturnAddress, &m.Slip.TrackingLink,
	}
}

// Merchants implements order.Store.
func (db *DB) Merchants(ctx context.Context, filter order.MerchantFilter) (_ []order.Merchant, err error) {
	defer db.observe(&ctx, "merchants")(&err)
	text, args := db.merchantsStatement(filter)
	merchants, err := sqldb.All(ctx, db.sql, text, args, func(rows sqldb.Rows) (m order.Merchant, err error) {
		err = rows.Scan(merchantDest(&m)...)
		return m, err
	})
	return merchants, db.readError("list merchants", err, nil)
}

// afterAnyText is not below any text that begins like the text before it.
const afterAnyText = "\U0010FFFF"

// merchantsStatement returns the statement that reads a page of merchants, and its
// arguments. Each filter has a text of its own, so that an index leads to the page.
func (db *DB) merchantsStatement(filter order.MerchantFilter) (string, []any) {
	var text strings.Builder
	var args []any
	param := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	name := `name` + db.dialect.ByteOrder
	text.WriteString(selectMerchants)
	switch {
	case filter.IDs != nil:
		args = append(args, filter.IDs) // the first one, as Dialect.InList needs it
		text.WriteString(`WHERE id ` + db.dialect.InList + ` AND id > ` + param(filter.After))
	case filter.NamePrefix == "":
		text.WriteString(`WHERE id > ` + param(filter.After))
	default:
		text.WriteString(`WHERE ` + name + ` >= ` + param(filter.NamePrefix) + ` AND ` + name + ` < ` + param(filter.NamePrefix+afterAnyText))
	}
	if filter.NamePrefix != "" && filter.After != 0 {
		text.WriteString(` AND (` + name + `, id) > ((SELECT name FROM merchants WHERE id = ` + param(filter.After) + `), $3)`)
	}
	switch {
	case filter.Suspended == nil:
	case *filter.Suspended:
		text.WriteString(` AND suspended_at IS NOT NULL`)
	default:
		text.WriteString(` AND suspended_at IS NULL`)
	}
	text.WriteString(` ORDER BY `)
	if filter.NamePrefix != "" {
		text.WriteString(name + `, `)
	}
	text.WriteString(`id`)
	if filter.Limit > 0 {
		text.WriteString(` LIMIT ` + param(filter.Limit) + `+0`)
	}
	return text.String(), args
}

// Merchant implements order.Store.
func (db *DB) Merchant(ctx context.Context, id int64) (m order.Merchant, err error) {
	defer db.observe(&ctx, "merchant_get")(&err)
	err = db.sql.QueryRow(ctx, selectMerchants+`WHERE id = $1`, []any{id}, merchantDest(&m)...)
	return m, db.readError("read merchant", err, order.ErrMerchantNotFound)
}

// LockMerchant implements order.Tx.
func (t *tx) LockMerchant(ctx context.Context, id int64) (m order.Merchant, err error) {
	err = t.QueryRow(ctx, selectMerchants+`WHERE id = $1`+t.db.dialect.RowLock, []any{id}, merchantDest(&m)...)
	return m, noRow(err, order.ErrMerchantNotFound)
}

// UpdateMerchant implements order.Tx. A new name gets a new nonce, so that no response
// with the old one is valid any more.
func (t *tx) UpdateMerchant(ctx context.Context, m order.Merchant, entry order.AuditEntry) error {
	err := t.Later(ctx, errNoRow, `UPDATE merchants SET name_nonce = CASE WHEN name = $1 THEN name_nonce ELSE $2 END, name = $1,
		suspended_at = $3, suspension_reason = $4, rate_limit = $5, rate_burst = $6, time_zone = $7,
		slip_name = $8, return_address = $9, tracking_link = $10 WHERE id = $11`,
		m.Name, newNonce(), seconds(m.SuspendedAt), m.SuspensionReason, m.RateLimit.PerSecond, m.RateLimit.Burst, m.TimeZone,
		m.Slip.Name, m.Slip.ReturnAddress, m.Slip.TrackingLink, m.ID)
	if err != nil {
		return err
	}
	t.addAudit(m.ID, entry)
	return nil
}

// existingMerchants returns those of the ids that merchants have.
func (t *tx) existingMerchants(ctx context.Context, ids ...int64) ([]int64, error) {
	return sqldb.Column[int64](ctx, t, `SELECT id FROM merchants WHERE id `+t.db.dialect.InList, ids)
}
