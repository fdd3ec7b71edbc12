package sqlite

import (
	"path/filepath"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/sqldbtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, func(t *testing.T) func() sqldb.DB {
		path := filepath.Join(t.TempDir(), "orders.db")
		return func() sqldb.DB { return openTest(t, path) }
	})
}
