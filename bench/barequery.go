package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// bareQueries are the queries that the service needs at least for a read.
var bareQueries = []struct {
	name     string
	readCase string
	query    string
	args     func(*merchant) []any
}{
	{
		name: "v2 order, same, relative to the bare query", readCase: "v2 order, same",
		query: `SELECT * FROM orders WHERE merchant_id = $1 AND reference = $2`,
		args:  func(m *merchant) []any { return []any{m.id, m.reference(m.count / 2)} },
	},
	{
		name: "v2 order, random, relative to the bare query", readCase: "v2 order, random",
		query: `SELECT * FROM orders WHERE merchant_id = $1 AND reference = $2`,
		args:  func(m *merchant) []any { return []any{m.id, m.reference(rand.IntN(m.count))} },
	},
	{
		name: "v2 list of 10, relative to the bare query", readCase: "v2 list of 10",
		query: `SELECT * FROM orders WHERE merchant_id = $1 ORDER BY created_at DESC, legacy_id DESC LIMIT 10`,
		args:  func(m *merchant) []any { return []any{m.id} },
	},
}

// measureBareQueries compares requests with the query that they need at least,
// with equally many connections, in alternation. It measures PostgreSQL only:
// SQLite has no server to query from outside.
func (i *installation) measureBareQueries(ctx context.Context) error {
	if i.postgresURL == "" {
		return nil
	}
	return i.withServer(ctx, func(server *process) error {
		for _, q := range bareQueries {
			if !i.wants(q.name) {
				continue
			}
			args := func() []any { return q.args(i.b) }
			if err := i.measureBareQuery(ctx, server, q.name, q.readCase, q.query, args); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		return nil
	})
}

func (i *installation) measureBareQuery(ctx context.Context, server *process, name, readCase, query string, args func() []any) error {
	var l load
	for _, r := range readCases {
		if r.name == readCase {
			var err error
			if l, _, _, err = i.prepareRead(server, r); err != nil {
				return err
			}
		}
	}
	var results wrkResults
	var queryRates []float64
	for round := range i.rounds {
		rate, err := i.queryRate(ctx, query, args)
		if err != nil {
			return err
		}
		result, err := i.wrk(ctx, server.baseURL, i.tokens[i.b], l, round)
		if err != nil {
			return err
		}
		queryRates, results = append(queryRates, rate), append(results, result)
	}
	service, bare := results.median(), median(queryRates)
	i.add(name, ratio(service.rate/bare), atLeast(.6), fmt.Sprintf("%s; bare query %s/s", service, thousands(bare)))
	return nil
}

// queryRate returns how often a second the database runs a query, with its rows
// read.
func (i *installation) queryRate(ctx context.Context, query string, args func() []any) (float64, error) {
	var count atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, i.clients)
	start := time.Now()
	for n := range i.clients {
		wg.Go(func() {
			connection, err := pgx.Connect(ctx, i.postgresURL)
			if err != nil {
				errs[n] = err
				return
			}
			defer func() { _ = connection.Close(ctx) }()
			for time.Since(start) < i.slice && errs[n] == nil {
				rows, err := connection.Query(ctx, query, args()...)
				for err == nil && rows.Next() {
					_, err = rows.Values()
				}
				errs[n] = errors.Join(err, rows.Err())
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return perSecond(int(count.Load()), time.Since(start)), errors.Join(errs...)
}
