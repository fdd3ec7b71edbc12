package postgres

import (
	"testing"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/sqldbtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, func(t *testing.T) func() sqldb.DB {
		url := pgtest.Database(t)
		return func() sqldb.DB { return openTest(t, url) }
	})
}
