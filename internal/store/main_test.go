package store

import (
	"context"
	"errors"
	"os"
	"testing"

	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	if work := os.Getenv(childVariable); work != "" {
		os.Exit(childMain(work))
	}
	pgtest.Main(m, distributeTest)
}

// distributeTest makes and spreads the tables of a database.
func distributeTest(ctx context.Context, url string) error {
	db, err := OpenPostgres(ctx, url, Options{})
	if err != nil {
		return err
	}
	_, err = db.Distribute(ctx)
	return errors.Join(err, db.Close())
}
