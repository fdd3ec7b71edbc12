package store

import (
	"math"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// listStatement is a statement about a list. $1 is the merchant.
type listStatement struct {
	*listing
	args []any
}

func (l *listing) statement() *listStatement { return &listStatement{l, []any{l.merchantID}} }

// param adds an argument and returns its parameter.
func (s *listStatement) param(value int64) string {
	s.args = append(s.args, value)
	return `$` + strconv.Itoa(len(s.args))
}

// pageStatement returns the statement that reads the orders of a page and one more. counted:
// each row also carries the counts of the list.
//
// A bound LIMIT is written $n+0: SQLite prepares a statement anew whenever a
// plain bound limit might change its plan, which makes it half as slow again.
func (l *listing) pageStatement(at position, counted bool) (string, []any) {
	s := l.statement()
	text := `SELECT ` + summaryColumns
	if counted {
		text += `, ` + s.counts()
	}
	below := s.below(at)
	limit := ` LIMIT ` + s.param(l.filter.PageSize+1) + `+0 OFFSET ` + s.param(at.skipped) + `+0`
	if l.filter.AnyState || len(l.filter.States) == 1 {
		return text + ` FROM orders o WHERE merchant_id = $1` + l.inStates() + below + newestFirst + limit, s.args
	}
	// The keys of the states are merged, and whole rows read for the page alone.
	//
	// CROSS JOIN makes SQLite take the keys first; left to itself it scans all orders
	// and searches each among the keys.
	//
	// The first LIMIT, a number, is for PostgreSQL: a plan for any limit expects a
	// tenth of the orders on the page and joins them all.
	rows := int64(256) // at least the largest page after the largest offset
	for rows < at.skipped+l.filter.PageSize+1 {
		rows *= 2
	}
	return text + ` FROM (
			SELECT created_at, legacy_id FROM (` + l.keys(below) + ` LIMIT ` + strconv.FormatInt(rows, 10) + `) v` + newestFirst + limit + `
		) k
		CROSS JOIN orders o
		WHERE o.merchant_id = $1 AND o.legacy_id = k.legacy_id
		ORDER BY o.created_at DESC, o.legacy_id DESC`, s.args
}

// keyStatement returns the statement that reads the key of the first order of a page.
func (l *listing) keyStatement(at position) (string, []any) {
	s := l.statement()
	return l.keys(s.below(at)) + ` LIMIT 1 OFFSET ` + s.param(at.skipped) + `+0`, s.args
}

const newestFirst = ` ORDER BY created_at DESC, legacy_id DESC`

// keys returns the statement that reads the keys of orders that meet a condition.
//
// Each branch has the ORDER BY of the whole statement: PostgreSQL merges only
// branches that are sorted, and sorts all orders otherwise.
func (l *listing) keys(condition string) string {
	const text = `SELECT created_at, legacy_id FROM `
	if l.filter.AnyState {
		return text + `orders WHERE merchant_id = $1` + condition + newestFirst
	}
	branches := make([]string, len(l.filter.States))
	for i, state := range l.filter.States {
		branches[i] = `SELECT * FROM (` + text + `orders
			WHERE merchant_id = $1 AND state = ` + sqldb.Literal(state) + condition + newestFirst + `) s` + strconv.Itoa(i)
	}
	return text + `(` + strings.Join(branches, ` UNION ALL `) + `) u` + newestFirst
}

// below returns the condition that an order is in the list's range, below a position.
func (s *listStatement) below(at position) string {
	text := ` AND (created_at, legacy_id) < (` + s.param(at.createdAt) + `, ` + s.param(at.legacyID) + `)`
	if s.from != math.MinInt64 {
		text += ` AND created_at >= ` + s.param(s.from)
	}
	return text
}

// sumStatement returns the statement that adds up the totals of up to some orders. It adds
// numbers that do not overflow, and are exact below 2^53; another sum is NULL.
func (l *listing) sumStatement(most int) (string, []any) {
	s := l.statement()
	below := s.below(l.start())
	return `SELECT currency, COUNT(*), CASE WHEN ABS(SUM(total)) < 9007199254740992 THEN CAST(SUM(total) AS BIGINT) END FROM (
			SELECT currency, CAST(total AS DOUBLE PRECISION) AS total FROM orders WHERE merchant_id = $1` + l.inStates() + below + ` LIMIT ` + strconv.Itoa(most) + `
		) o GROUP BY currency ORDER BY currency`, s.args
}

// inStates returns the condition that an order, or the count of a day, is in the states of
// the list.
func (l *listing) inStates() string {
	if l.filter.AnyState {
		return ``
	}
	return ` AND state IN (` + l.joinStates(``, `, `) + `)`
}

// joinStates returns the numbers of the list's states after a prefix each.
func (l *listing) joinStates(prefix, separator string) string {
	states := l.filter.States
	if l.filter.AnyState {
		states = order.States()
	}
	texts := make([]string, len(states))
	for i, state := range states {
		texts[i] = prefix + sqldb.Literal(state)
	}
	return strings.Join(texts, separator)
}

// countStatement returns the statement that reads the counts of a list.
func (l *listing) countStatement() (string, []any) {
	s := l.statement()
	return `SELECT ` + s.counts() + ` FROM merchants WHERE id = $1`, s.args
}

// dataVersion are the columns of an order.DataVersion.
const dataVersion = `(SELECT last_event FROM merchants WHERE id = $1), (SELECT data_nonce FROM merchants WHERE id = $1)`

// counts returns the columns of listCounts.dest. They have tables of their own, so any
// statement can have them.
func (s *listStatement) counts() string {
	const version = dataVersion + `, `
	switch {
	case s.empty():
		return version + `0, 0, 0`
	case s.filter.From == order.NoDay && s.filter.To == order.NoDay:
		return version + `(SELECT ` + s.joinStates(`in_state_`, ` + `) + ` FROM merchants WHERE id = $1), 0, 0`
	}
	return version + `(SELECT ` + sumOfDays + s.onDays() + `), ` + s.created(s.until, s.utcUntil) + `, ` + s.created(s.utcFrom, s.from)
}

const sumOfDays = `CAST(COALESCE(SUM(orders), 0) AS BIGINT) FROM order_days WHERE merchant_id = $1`

// onDays returns the condition that a count is of the UTC days and states of the list.
func (s *listStatement) onDays() string {
	to := s.filter.To
	if to == order.NoDay {
		to = math.MaxInt32
	}
	return ` AND day >= ` + s.param(int64(s.filter.From)) + ` AND day <= ` + s.param(int64(to)) + s.inStates()
}

// created returns the number of orders created from one time on and before another, or
// the negative number if the other is earlier.
func (s *listStatement) created(from, until int64) string {
	switch {
	case from == until:
		return `0`
	case from > until:
		return `-` + s.created(until, from)
	}
	return `(SELECT COUNT(*) FROM orders WHERE merchant_id = $1` + s.inStates() + ` AND created_at >= ` + s.param(from) + ` AND created_at < ` + s.param(until) + `)`
}

// dayStatement returns the statement that counts the orders of some UTC days each, from one
// end of the list. It has a LIMIT because PostgreSQL counts those of all days before it
// returns one, and follows the index only to few.
func (l *listing) dayStatement(ascending bool) (string, []any) {
	s := l.statement()
	text := `SELECT day, ` + sumOfDays + s.onDays() + ` GROUP BY day ORDER BY day`
	if !ascending {
		text += ` DESC`
	}
	return text + ` LIMIT 256`, s.args
}
