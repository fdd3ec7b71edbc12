// Package copier copies an installation to another database, another storage
// or both, while servers work on the source. It copies rows as they are and
// verifies the target at the end.
//
// It must not interpret rows more than needed to find what belongs together:
// the rules of orders are in package order.
package copier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// OrdersStage is a stage of maintenance.Reporter, beside those of package check.
const OrdersStage = "copying orders"

// maxRounds limits how often the changes of the previous round are copied. A
// source that never stops changing is never copied completely.
const maxRounds = 5

// Result is what a copy did and what it verified.
type Result struct {
	RowsChanged int64 // written to the target or removed from it, without counters
	FilesCopied int64
	FilesMended int64 // that were damaged in the target

	Merchants, Tokens, OrderKeys int64     // in the target
	Rows                         RowCounts // in the target, of all merchants, without Audit and Deleted
	FilesVerified                int64     // whose SHA-256 is right
	Findings                     int64     // differences between source and target
	SourceChanged                bool      // the source changed during the copy
	SourceChanging               bool      // the source changed in every round, and its last changes were not copied
}

// Copy makes the target equal to the source: rows as they are, files byte for
// byte. What is damaged in the target is copied again. A target without DB or Files
// leaves those where they are. A copy that was stopped is resumed by copying again:
// what is equal already is not written.
//
// The source may be in use. Each merchant is copied from a snapshot, and copied
// again if it has new events afterwards. The target must not be in use. It must
// be empty or an earlier copy, else the error is ErrForeignTarget. The error is
// sqldb.ErrLocked while another copy works on either database.
//
// Differences found at the end are findings, not errors.
func Copy(ctx context.Context, source, target maintenance.Installation, reporter *maintenance.Reporter) (Result, error) {
	j := &job{source: source, target: target, reporter: reporter, copied: make(map[int64]copiedMerchant)}
	err := j.watchEvents(ctx, j.copy)
	j.result.FilesCopied, j.result.FilesMended = j.filesCopied.Load(), j.filesMended.Load()
	j.result.Findings = reporter.Findings()
	return j.result, err
}

// job is one copy in progress.
type job struct {
	source, target maintenance.Installation
	reporter       *maintenance.Reporter
	copied         map[int64]copiedMerchant
	orders         int64 // in the source at the start, for progress
	sourceTokens   int64 // in the last round
	filesCopied    atomic.Int64
	filesMended    atomic.Int64
	result         Result
}

// copiedMerchant is the snapshot of a merchant that the target has.
type copiedMerchant struct {
	ends           logEnds
	source, target RowCounts
}

// logEnds are the numbers of a merchant's newest event and newest audit entry.
type logEnds struct{ event, audit int64 }

// readLogEnds returns the ends of all merchants.
func readLogEnds(ctx context.Context, q sqldb.Querier) (map[int64]logEnds, error) {
	ends := make(map[int64]logEnds)
	err := q.Query(ctx, `SELECT id, last_event, audit_seq FROM merchants`, nil, func(rows sqldb.Rows) error {
		var id int64
		var e logEnds
		err := rows.Scan(&id, &e.event, &e.audit)
		ends[id] = e
		return err
	})
	return ends, err
}

// copy copies the database and then the files.
func (j *job) copy(ctx context.Context) error {
	if j.target.DB != nil {
		if err := j.copyDatabase(ctx); err != nil {
			return err
		}
	}
	if j.target.Files == nil {
		return nil
	}
	if err := j.verifyFiles(ctx); err != nil {
		return err
	}
	return j.removePurgedFiles(ctx)
}

// copyDatabase copies in rounds until the source has no new events.
func (j *job) copyDatabase(ctx context.Context) error {
	// Other copies may read the source, but not the target.
	for _, lock := range []struct {
		db     sqldb.DB
		shared bool
	}{{j.target.DB, false}, {j.source.DB, true}} {
		held, err := lock.db.LockForCopy(ctx, lock.shared)
		if errors.Is(err, sqldb.ErrLocked) {
			return fmt.Errorf("source and target are the same database, or another copy uses one of them: %w", err)
		}
		if err != nil {
			return err
		}
		defer func() { _ = held.Close() }()
	}
	if err := checkTarget(ctx, j.source.DB, j.target.DB); err != nil {
		return err
	}
	j.result.SourceChanging = true
	for round := 0; round < maxRounds && j.result.SourceChanging; round++ {
		var err error
		rows := j.result.RowsChanged
		if j.result.SourceChanging, err = j.copyRound(ctx); err != nil {
			return err
		}
		if round > 0 && j.result.RowsChanged > rows {
			j.result.SourceChanged = true // also without an event, such as a token
		}
	}
	if j.result.RowsChanged > 0 {
		// Copied events have no position in the feed of all merchants: they may be before a
		// cursor of an earlier copy.
		if err := j.inTx(ctx, func(tx sqldb.Querier) error { return store.RenewMarketHistory(ctx, tx) }); err != nil {
			return err
		}
	}
	return j.verifyRows(ctx)
}

// watchEvents runs fn and notices events of the source meanwhile.
func (j *job) watchEvents(ctx context.Context, fn func(context.Context) error) error {
	before, err := maintenance.PerMerchant(ctx, j.source.DB, maintenance.LastEvents)
	if err == nil {
		err = fn(ctx)
	}
	if err != nil {
		return err
	}
	after, err := maintenance.PerMerchant(ctx, j.source.DB, maintenance.LastEvents)
	if !maps.Equal(before, after) {
		j.result.SourceChanged = true
	}
	return err
}

// copyRound copies every merchant with events or audit entries since the previous round and
// reports whether there was one. Tokens, the key of links and the marketplace's webhooks
// follow the merchants, so that nobody can read from a half copied target. Counters are
// last: they only grow.
func (j *job) copyRound(ctx context.Context) (changed bool, err error) {
	var tokens, linkKey, webhooks rowSet
	var ends map[int64]logEnds
	err = maintenance.Slice(ctx, j.source.DB, func(q sqldb.Querier) error {
		if tokens, err = readRows(ctx, q, tokensTable, allRows); err != nil {
			return err
		}
		if linkKey, err = readRows(ctx, q, linkKeyTable, allRows); err != nil {
			return err
		}
		if webhooks, err = readRows(ctx, q, webhooksTable, `merchant_id = 0`); err != nil {
			return err
		}
		if ends, err = readLogEnds(ctx, q); err != nil || j.orders > 0 {
			return err
		}
		return q.QueryRow(ctx, maintenance.CountOrders, nil, &j.orders)
	})
	if err != nil {
		return false, err
	}
	if len(webhooks.rows) > 0 && j.target.DB.Dialect().Feed.End == "" {
		return false, sqldb.ErrMarketWebhooks
	}
	for _, id := range slices.Sorted(maps.Keys(ends)) {
		if before, ok := j.copied[id]; ok && before.ends == ends[id] {
			continue
		}
		changed = true
		if err := j.copyMerchant(ctx, id, ends[id]); err != nil {
			return false, err
		}
	}
	j.sourceTokens = int64(len(tokens.rows))
	if err := j.apply(ctx, tokens, linkKey, webhooks); err != nil {
		return false, err
	}
	return changed, j.copyCounters(ctx)
}

// copyCounters copies the highest numbers that the service has given out, after the
// audit entries that belong to no merchant, which one of them counts.
func (j *job) copyCounters(ctx context.Context) error {
	var counters rowSet
	var lastInvoice int64
	err := maintenance.Slice(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
		// PostgreSQL counts invoices in a sequence.
		if counters, err = readRows(ctx, q, countersTable, `name <> 'invoice' AND NOT `+store.RunRows); err != nil {
			return err
		}
		for _, row := range counters.rows {
			if countersTable.text(row, "name") != "audit" {
				continue
			}
			if err := j.copyLog(ctx, q, auditTable, 0, 0, countersTable.int(row, "last")); err != nil {
				return err
			}
		}
		return q.QueryRow(ctx, j.source.DB.Dialect().LastInvoiceID, nil, &lastInvoice)
	})
	if err != nil {
		return err
	}
	return j.inTx(ctx, func(tx sqldb.Querier) error {
		dialect := j.target.DB.Dialect()
		if _, err := counters.applyTo(ctx, tx, dialect); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, dialect.SetInvoiceID, lastInvoice)
		return err
	})
}

// apply makes the same rows of the target equal, in one transaction.
func (j *job) apply(ctx context.Context, sets ...rowSet) error {
	changes := 0
	err := j.inTx(ctx, func(tx sqldb.Querier) error {
		changes = 0
		for _, set := range sets {
			n, err := set.applyTo(ctx, tx, j.target.DB.Dialect())
			if err != nil {
				return err
			}
			changes += n
		}
		return nil
	})
	j.result.RowsChanged += int64(changes)
	return err
}

// inTx runs fn in a transaction of the target.
func (j *job) inTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	return sqldb.RetryTx(ctx, j.target.DB, func(q sqldb.Querier) error { return fn(q.WithoutTimeout()) })
}
