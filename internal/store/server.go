package store

import (
	"context"
	"database/sql"
	"fmt"
	"merchantorders/internal/token"
	"sync"
)

// server is the connections to a database server, through database/sql.
type server struct {
	onSQL
	db      *sql.DB
	grants  shared[token.Hash, token.Grant]
	holders sync.Map // token.Hash -> int64, the id of its merchant
}

func newServer(db *sql.DB) *server {
	return &server{onSQL: onSQL{on: db, limit: statementLimit}, db: db}
}

// change implements connections.
func (s *server) change(ctx context.Context, fn func(run) error) error {
	begun, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After a commit this does nothing; after an error or a panic it undoes all.
	defer func() { _ = begun.Rollback() }()
	if err := fn(onSQL{on: begun, limit: s.limit}); err != nil {
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// snapshot implements connections.
func (s *server) snapshot(ctx context.Context, fn func(run) error) error {
	begun, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = begun.Rollback() }()
	// It may be idle for long between its reads.
	if _, err := begun.ExecContext(ctx, "SET LOCAL "+abandonedParameter+" = 0"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return fn(onSQL{on: begun, limit: s.limit})
}

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

func (s *server) ping(ctx context.Context) error { return s.db.PingContext(ctx) }

func (s *server) close() error { return s.db.Close() }
