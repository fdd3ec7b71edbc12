package tracing

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/store/sqldb"
)

// maxStatement is how much of the text of a statement a span has, in bytes. A bulk
// insert has many times as much.
const maxStatement = 500

// Database wraps a database: transactions and statements of requests have spans with
// the text of the statement, which has no values in it. system is sqlite or
// postgresql.
func (t *Tracing) Database(next sqldb.DB, system string) sqldb.DB {
	return database{querier{on: next, t: t, system: attribute.String("db.system.name", system)}, unwrapped{next}}
}

// database is an sqldb.DB with spans: its statements are those of the querier.
type database struct {
	querier
	unwrapped
}

// unwrapped has the other methods. It is a struct, so that those of the querier come before.
type unwrapped struct{ sqldb.DB }

// InTx implements sqldb.DB.
func (d database) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	return d.transaction(ctx, "transaction", d.DB.InTx, fn)
}

// Snapshot implements sqldb.DB.
func (d database) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	return d.transaction(ctx, "snapshot", d.DB.Snapshot, fn)
}

// transaction runs fn in a transaction with a span, below which are those of its
// statements.
func (d database) transaction(ctx context.Context, name string, run func(context.Context, func(sqldb.Querier) error) error, fn func(sqldb.Querier) error) error {
	ctx, span := d.t.start(ctx, name, trace.SpanKindClient, d.system)
	err := run(ctx, func(q sqldb.Querier) error {
		inside := d.querier
		inside.on, inside.parent = q, span
		return fn(inside)
	})
	end(span, err)
	return err
}

// querier is an sqldb.Querier with spans.
type querier struct {
	on     sqldb.Querier
	t      *Tracing
	system attribute.KeyValue
	parent trace.Span // of the transaction; nil: none
}

// WithoutTimeout implements sqldb.Querier.
func (q querier) WithoutTimeout() sqldb.Querier {
	q.on = q.on.WithoutTimeout()
	return q
}

// statement begins the span of a statement.
func (q querier) statement(ctx context.Context, text string) (context.Context, trace.Span) {
	if q.parent != nil {
		// The callers of a transaction have a context from before it.
		ctx = trace.ContextWithSpan(ctx, q.parent)
	}
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return q.t.start(ctx, summary(text), trace.SpanKindClient,
		q.system, attribute.String("db.query.text", text[:min(len(text), maxStatement)]))
}

// Exec implements sqldb.Querier.
func (q querier) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx, span := q.statement(ctx, text)
	n, err := q.on.Exec(ctx, text, args...)
	endStatement(span, err)
	return n, err
}

// Query implements sqldb.Querier. An error of scan ends the reading, and is none of the database.
func (q querier) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	ctx, span := q.statement(ctx, text)
	var scanned error
	err := q.on.Query(ctx, text, args, func(rows sqldb.Rows) error {
		scanned = scan(rows)
		return scanned
	})
	endCall(span, err, "database", scanned)
	return err
}

// QueryMany implements sqldb.Querier, as Query. One span is for all queries.
func (q querier) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	ctx, span := q.statement(ctx, "queries")
	var scanned error
	err := q.on.QueryMany(ctx, queries, func(n int, rows sqldb.Rows) error {
		scanned = scan(n, rows)
		return scanned
	})
	endCall(span, err, "database", scanned)
	return err
}

// Later implements sqldb.Querier. The time of a statement that waits is in the span of the
// one that it is sent with.
func (q querier) Later(ctx context.Context, noRow error, text string, args ...any) error {
	ctx, span := q.statement(ctx, text)
	err := q.on.Later(ctx, noRow, text, args...)
	endStatement(span, err)
	return err
}

// QueryRow implements sqldb.Querier.
func (q querier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	ctx, span := q.statement(ctx, text)
	err := q.on.QueryRow(ctx, text, args, dest...)
	endStatement(span, err)
	return err
}

// endStatement ends the span of a statement.
func endStatement(span trace.Span, err error) { endCall(span, err, "database", sql.ErrNoRows) }

// summary returns the operation of a statement and its first table, such as "SELECT
// orders". Tables in parentheses are of subqueries.
func summary(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "statement"
	}
	depth := 0
	for i, word := range words[:len(words)-1] {
		if depth == 0 && (word == "FROM" || word == "INTO" || word == "UPDATE") && words[i+1][0] != '(' {
			return words[0] + " " + strings.TrimRight(words[i+1], ",;()")
		}
		depth += strings.Count(word, "(") - strings.Count(word, ")")
	}
	return words[0]
}
