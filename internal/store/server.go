package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"merchantorders/internal/token"
)

// server is the connections to a database server.
type server struct {
	onServer
	pool    *pgxpool.Pool
	seldom  *sql.DB // for what is done once: it keeps no connection
	grants  shared[token.Hash, token.Grant]
	holders sync.Map // token.Hash -> int64, the id of its merchant
}

func newServer(pool *pgxpool.Pool, seldom *sql.DB) *server {
	return &server{onServer: onServer{on: pool, limit: statementLimit}, pool: pool, seldom: seldom}
}

// change implements connections.
func (s *server) change(ctx context.Context, fn func(run) error) error {
	begun, err := s.begin(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	// After a commit this does nothing; after an error or a panic it undoes all.
	defer s.undo(ctx, begun)
	if err := fn(onServer{on: begun, limit: s.limit}); err != nil {
		return err
	}
	if err := begun.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// snapshot implements connections.
func (s *server) snapshot(ctx context.Context, fn func(run) error) error {
	begun, err := s.begin(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer s.undo(ctx, begun)
	// It may be idle for long between its reads.
	if _, err := begun.Exec(ctx, "SET LOCAL "+abandonedParameter+" = 0"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return fn(onServer{on: begun, limit: s.limit})
}

func (s *server) begin(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	begun, err := onGood(ctx, func() (pgx.Tx, error) { return s.pool.BeginTx(ctx, options) })
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return begun, nil
}

// undo undoes what was not committed, also when the time of the request is over.
func (s *server) undo(ctx context.Context, begun pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limit)
	defer cancel()
	_ = begun.Rollback(ctx)
}

// known implements connections.
func (s *server) known(token.Hash) (token.Grant, bool) { return token.Grant{}, false }

// grant implements connections. Requests that carry the same token at the same
// time share one look-up, begun after each of them had come in: with 16 clients
// that is a fifth of the look-ups.
func (s *server) grant(ctx context.Context, hash token.Hash) (token.Grant, error) {
	return s.grants.do(ctx, hash, func(ctx context.Context) (token.Grant, error) {
		known, found := s.holders.Load(hash)
		if !found {
			g, err := readGrant(ctx, s, selectGrantOf, hash[:], int64(0))
			if err != nil {
				return token.Grant{}, err
			}
			// No more than there are tokens, none of which ever becomes another
			// merchant's.
			s.holders.Store(hash, g.MerchantID)
			known = g.MerchantID
		}
		return readGrant(ctx, s, selectGrantOf, hash[:], known.(int64))
	})
}

func (s *server) ping(ctx context.Context) error { return s.pool.Ping(ctx) }

func (s *server) close() error {
	s.pool.Close()
	return s.seldom.Close()
}
