package store

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// List implements order.Store.
//
// A page takes one statement as a rule: each row also carries the total and the
// data version, so that they always fit the page. A page with many orders before it
// is read in a snapshot.
func (db *DB) List(ctx context.Context, merchantID int64, filter order.Filter) (page order.Page, err error) {
	defer db.observe(&ctx, "list")(&err)
	// One time limit for all statements together.
	ctx, cancel := withTimeout(ctx, db.dialect.StatementTimeout)
	defer cancel()
	l := newListing(merchantID, filter)
	done := false
	if l.rank <= db.maxSkipped {
		page, done, err = l.read(ctx, db.sql)
	}
	if !done && err == nil {
		err = db.sql.Snapshot(ctx, func(q sqldb.Querier) error {
			page, err = l.readFar(ctx, q, db.maxSkipped)
			return err
		})
	}
	return page, db.readError("list orders", err, nil)
}

// Sums implements order.Store.
func (db *DB) Sums(ctx context.Context, merchantID int64, filter order.Filter, most int) (sums []order.Amount, err error) {
	defer db.observe(&ctx, "sums")(&err)
	filter.Page, filter.After = 1, nil
	l := newListing(merchantID, filter)
	if l.empty() {
		return nil, nil
	}
	text, args := l.sumStatement(most + 1)
	summed, exact := 0, true
	err = db.sql.Query(ctx, text, args, func(rows sqldb.Rows) error {
		var orders int
		var sum sql.NullInt64
		var currency string
		err := rows.Scan(&currency, sqldb.Int(&orders), &sum)
		exact = exact && sum.Valid
		summed += orders
		sums = append(sums, order.Amount{Amount: sum.Int64, Currency: currency})
		return err
	})
	if summed > most || !exact {
		sums = nil
	}
	return sums, db.readError("add up orders", err, nil)
}

// read reads a page with one statement. If the page has no orders, no row carries the
// counts, and a second statement reads them. It reports false if by then there are orders
// that the page would have.
func (l *listing) read(ctx context.Context, q sqldb.Querier) (order.Page, bool, error) {
	var counts listCounts
	orders, err := l.orders(ctx, q, l.start(), &counts)
	if err == nil && len(orders) == 0 {
		counts, err = l.count(ctx, q)
	}
	return l.page(orders, counts), len(orders) > 0 || counts.total() <= l.rank, err
}

// readFar reads a page in a snapshot, wherever it is.
func (l *listing) readFar(ctx context.Context, q sqldb.Querier, maxSkipped int64) (order.Page, error) {
	counts, err := l.count(ctx, q)
	if err != nil || counts.total() <= l.rank {
		return l.page(nil, counts), err
	}
	at := l.start()
	if at.skipped > maxSkipped {
		if at, err = l.locate(ctx, q, counts); err != nil {
			return order.Page{}, err
		}
	}
	orders, err := l.orders(ctx, q, at, nil)
	return l.page(orders, counts), err
}

// listing is a list of which a page is read.
type listing struct {
	merchantID int64
	filter     order.Filter
	// Orders are created from from on and before until. utcFrom and utcUntil bound the
	// same dates in UTC, whose orders are counted in order_days.
	from, until, utcFrom, utcUntil int64
	// rank is how many orders come before the page; 0 for a page after a cursor.
	rank int64
}

func newListing(merchantID int64, filter order.Filter) *listing {
	l := &listing{merchantID: merchantID, filter: filter}
	l.from, l.until = filter.Bounds()
	filter.Zone = nil
	l.utcFrom, l.utcUntil = filter.Bounds()
	if l.from >= l.until { // the range ends before it begins
		l.filter.AnyState, l.filter.States = false, nil
	}
	switch pages := filter.Page - 1; {
	case filter.After != nil:
	case pages > math.MaxInt64/filter.PageSize: // the product does not fit 64 bits
		l.rank = math.MaxInt64
	default:
		l.rank = pages * filter.PageSize
	}
	return l
}

// empty reports whether no order can match.
func (l *listing) empty() bool { return !l.filter.AnyState && len(l.filter.States) == 0 }

// position is where a page begins: after the first skipped orders of those with lower keys.
type position struct{ createdAt, legacyID, skipped int64 }

// start returns the position that takes no statement to find.
func (l *listing) start() position {
	if after := l.filter.After; after != nil && after.CreatedAt.Unix() < l.until {
		return position{createdAt: after.CreatedAt.Unix(), legacyID: after.LegacyID}
	}
	return position{createdAt: l.until, skipped: l.rank}
}

// page returns the page with the orders that were read.
func (l *listing) page(orders []order.Summary, counts listCounts) order.Page {
	page := order.Page{Orders: orders, Total: counts.total(), Version: counts.version}
	if size := l.filter.PageSize; int64(len(orders)) > size {
		page.Orders, page.Next = orders[:size], orders[size-1].Key()
	}
	return page
}

// listCounts are numbers of orders in the states of a list, as of a data version. above and
// below are 0 unless the list has another time zone than UTC.
type listCounts struct {
	version order.DataVersion
	days    int64 // created on the dates of the list in UTC
	above   int64 // those of them that are too new for the list, minus newer ones that it has
	below   int64 // those of them that are too old for the list, minus older ones that it has
}

func (c *listCounts) dest() []any {
	return []any{&c.version.Event, &c.version.Nonce, &c.days, &c.above, &c.below}
}

func (c *listCounts) total() int64 { return c.days - c.above - c.below }

// count reads the counts of a list. A merchant that does not exist has none.
func (l *listing) count(ctx context.Context, q sqldb.Querier) (counts listCounts, err error) {
	text, args := l.countStatement()
	err = q.QueryRow(ctx, text, args, counts.dest()...)
	return counts, noRow(err, nil)
}

// orders reads the orders of a page, and one more if there is a next page. counts is set
// to what the rows carry; nil: they carry no counts.
func (l *listing) orders(ctx context.Context, q sqldb.Querier, at position, counts *listCounts) ([]order.Summary, error) {
	if l.empty() {
		return nil, nil
	}
	var more []any
	if counts != nil {
		more = counts.dest()
	}
	text, args := l.pageStatement(at, counts != nil)
	return readSummaries(ctx, q, text, args, more...)
}

var errDayCounts = errors.New("the day counts do not match the orders")

// locate returns the position of a page without orders to skip: the key of its first order
// tells where it begins.
func (l *listing) locate(ctx context.Context, q sqldb.Querier, counts listCounts) (position, error) {
	at, err := l.locateDay(ctx, q, counts)
	if err != nil {
		return position{}, err
	}
	text, args := l.keyStatement(at)
	var first position
	err = q.QueryRow(ctx, text, args, &first.createdAt, &first.legacyID)
	first.legacyID++ // a position is above its orders
	return first, noRow(err, errDayCounts)
}

// locateDay returns the position of a page with no more orders to skip than those of a day.
// It reads the counts of days from the nearer end of the list until it has reached the page.
func (l *listing) locateDay(ctx context.Context, q sqldb.Querier, counts listCounts) (position, error) {
	skipped := l.rank + counts.above
	switch {
	case skipped < 0:
		return l.start(), nil
	case skipped >= counts.days:
		return position{createdAt: l.utcFrom, skipped: skipped - counts.days}, nil
	}
	rest, ascending := *l, skipped > counts.days/2
	if ascending {
		skipped = counts.days - 1 - skipped
	}
	for {
		day, orders, err := rest.passDays(ctx, q, ascending, &skipped)
		switch {
		case err != nil:
			return position{}, err
		case skipped < 0 && ascending:
			return position{createdAt: (day + 1).Start().Unix(), skipped: -1 - skipped}, nil
		case skipped < 0:
			return position{createdAt: (day + 1).Start().Unix(), skipped: orders + skipped}, nil
		case ascending:
			rest.filter.From = day + 1
		default:
			rest.filter.To = day - 1
		}
	}
}

// passDays subtracts the orders of days from skipped until it is negative, or the statement
// has no more days. It returns the last of these days and its orders.
func (l *listing) passDays(ctx context.Context, q sqldb.Querier, ascending bool, skipped *int64) (day order.Day, orders int64, err error) {
	text, args := l.dayStatement(ascending)
	found := false
	err = q.Query(ctx, text, args, func(rows sqldb.Rows) error {
		if err := rows.Scan(sqldb.Int(&day), &orders); err != nil {
			return err
		}
		found = true
		if *skipped -= orders; *skipped < 0 {
			return errPageEnd
		}
		return nil
	})
	switch {
	case errors.Is(err, errPageEnd):
		err = nil
	case err == nil && !found:
		err = errDayCounts
	}
	return day, orders, err
}
