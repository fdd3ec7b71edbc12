package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// longRead bounds a statement of a patient run. Nobody waits for it with a
// request.
const longRead = time.Hour

// onServer runs statements on a server that may never answer. The driver keeps
// them prepared by itself.
type onServer struct {
	on interface {
		Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	}
	limit time.Duration // of a statement, with the wait for a connection
}

func (s onServer) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.limit)
}

func (s onServer) patient() run { return onServer{on: s.on, limit: longRead} }

func (s onServer) exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	done, err := onGood(ctx, func() (pgconn.CommandTag, error) { return s.on.Exec(ctx, text, args...) })
	return done.RowsAffected(), err
}

func (s onServer) query(ctx context.Context, text string, args ...any) (result, error) {
	found, err := onGood(ctx, func() (pgx.Rows, error) { return s.on.Query(ctx, text, args...) })
	if err != nil {
		return nil, err
	}
	return serverRows{found}, nil
}

func (s onServer) row(ctx context.Context, text string, args []any, into ...any) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	found, err := s.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	if !found.Next() {
		if err := found.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows // which is sql.ErrNoRows
	}
	if err := found.Scan(into...); err != nil {
		return err
	}
	return found.Close()
}

// goodTries is how many connections are tried that turn out to have broken
// while they were idle.
const goodTries = 3

// onGood calls fn, again where the server cannot have seen anything of it: the
// connection had broken before.
func onGood[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	done, err := fn()
	for try := 1; try < goodTries && err != nil && pgconn.SafeToRetry(err) && ctx.Err() == nil; try++ {
		done, err = fn()
	}
	return done, err
}
