package store

import (
	"context"
	"errors"
	"os"
	"testing"

	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	if work := os.Getenv(childVariable); work != "" {
		os.Exit(childMain(work))
	}
	pgtest.Main(m, distributeTest)
}

// distributeTest creates the tables of a database and distributes them.
func distributeTest(ctx context.Context, url string) error {
	db, err := OpenPostgres(ctx, url, Options{})
	if err != nil {
		return err
	}
	_, err = citus.Distribute(ctx, db.SQL())
	return errors.Join(err, db.Close())
}
