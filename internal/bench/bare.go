package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that updates
	_ "modernc.org/sqlite"             // likewise
)

// bareQueries are what the database alone has to do for a reading.
var bareQueries = []struct {
	what string
	like string // of readings
	text string
	any  bool // of any order, else of the merchant
	one  bool // of one order
}{
	{
		what: "v2 order, one again and again, of the bare query's rate", like: "v2 order, one again and again", one: true,
		text: `SELECT * FROM orders WHERE merchant_id = $1 AND reference = $2`,
	},
	{
		what: "v2 order, any of all, of the bare query's rate", like: "v2 order, any of all", any: true,
		text: `SELECT * FROM orders WHERE merchant_id = $1 AND reference = $2`,
	},
	{
		what: "v2 list of 10, of the bare query's rate", like: "v2 list of 10",
		text: `SELECT * FROM orders WHERE merchant_id = $1 ORDER BY created_at DESC, number DESC LIMIT 10`,
	},
}

// measureBareQueries compares requests with the query that they cannot do
// without, by as many connections, by turns. On SQLite there is no server to
// ask.
func (i *installation) measureBareQueries(ctx context.Context) error {
	if i.url == "" {
		return nil
	}
	return i.with(ctx, func(server *process) error {
		for _, q := range bareQueries {
			if !i.wants(q.what) {
				continue
			}
			args := func() []any { return []any{i.b.id} }
			if q.one {
				args = func() []any { return []any{i.b.id, i.b.reference(i.b.count / 2)} }
			}
			if q.any {
				args = func() []any { return []any{i.b.id, i.b.reference(rand.IntN(i.b.count))} }
			}
			if err := i.measureBareQuery(ctx, server, q.what, q.like, q.text, args); err != nil {
				return fmt.Errorf("%s: %w", q.what, err)
			}
		}
		return nil
	})
}

func (i *installation) measureBareQuery(ctx context.Context, server *process, what, like, text string, args func() []any) error {
	var l load
	for _, r := range readings {
		if r.what == like {
			var err error
			if l, _, _, err = i.prepare(server, r); err != nil {
				return err
			}
		}
	}
	var of paces
	var bare []float64
	for round := range i.Rounds {
		rate, err := i.bareQuery(ctx, text, args)
		if err != nil {
			return err
		}
		p, err := i.wrk(ctx, server.base, i.tokens[i.b], l, round)
		if err != nil {
			return err
		}
		bare, of = append(bare, rate), append(of, p)
	}
	i.add(what, ratio(of.median().rate/median(bare)), atLeast(.6), fmt.Sprintf("%s; bare query %s/s", of.median(), thousands(median(bare))))
	return nil
}

// settle has a server take stock of its tables, as it does by itself some time
// after many rows have come.
func (i *installation) settle(ctx context.Context) error {
	if i.url == "" {
		return nil
	}
	connection, err := pgx.Connect(ctx, i.url)
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, "VACUUM ANALYZE")
	return errors.Join(err, connection.Close(ctx))
}

// bareQuery returns how often a second a query is answered, and what it found
// read.
func (i *installation) bareQuery(ctx context.Context, text string, args func() []any) (float64, error) {
	var count atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, i.Clients)
	began := time.Now()
	for n := range i.Clients {
		all.Go(func() {
			connection, err := pgx.Connect(ctx, i.url)
			if err != nil {
				failed[n] = err
				return
			}
			defer func() { _ = connection.Close(ctx) }()
			for time.Since(began) < i.Slice && failed[n] == nil {
				rows, err := connection.Query(ctx, text, args()...)
				for err == nil && rows.Next() {
					_, err = rows.Values()
				}
				failed[n] = errors.Join(err, rows.Err())
				count.Add(1)
			}
		})
	}
	all.Wait()
	return perSecond(int(count.Load()), time.Since(began)), errors.Join(failed...)
}

// bareRows is how many rows are updated at random.
const bareRows = 10_000

// bareTable is a table for bare updates: one writer, a commit for each.
type bareTable struct {
	db     *sql.DB
	update *sql.Stmt
}

// openBare makes a table beside the service's own, in a file of its own with
// the same settings as the service's, or in the same database of a server.
func (i *installation) openBare(ctx context.Context) (*bareTable, error) {
	driver, source := "pgx", i.url
	if source == "" {
		driver = "sqlite"
		source = (&url.URL{Scheme: "file", Opaque: url.PathEscape(filepath.Join(i.data, "bare.db")), RawQuery: url.Values{
			"_pragma": {"busy_timeout(10000)", "page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"},
		}.Encode()}).String()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	t := &bareTable{db: db}
	if err := t.fill(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return t, nil
}

func (t *bareTable) fill(ctx context.Context) error {
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE bare (id BIGINT NOT NULL PRIMARY KEY, state BIGINT NOT NULL, content TEXT NOT NULL)`); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO bare (id, state, content) VALUES ($1, 0, 'about as long as what a list shows of an order')`)
	if err != nil {
		return err
	}
	for id := range bareRows {
		if _, err := insert.ExecContext(ctx, id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	t.update, err = t.db.PrepareContext(ctx, `UPDATE bare SET state = state + 1 WHERE id = $1`)
	return err
}

// updates updates rows one after the other, and returns how many a second.
func (t *bareTable) updates(ctx context.Context, count int) (float64, error) {
	began := time.Now()
	for range count {
		if _, err := t.update.ExecContext(ctx, rand.IntN(bareRows)); err != nil {
			return 0, err
		}
	}
	return perSecond(count, time.Since(began)), nil
}

func (t *bareTable) close() error { return errors.Join(t.update.Close(), t.db.Close()) }
