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
	pgtest.Main(m, setUpTest)
}

// setUpTest creates the tables of a database. On a cluster it distributes them.
func setUpTest(ctx context.Context, url string, cluster bool) error {
	db, err := OpenPostgres(ctx, url, Options{})
	if err != nil {
		return err
	}
	if cluster {
		_, err = citus.Distribute(ctx, db.SQL())
	}
	return errors.Join(err, db.Close())
}
