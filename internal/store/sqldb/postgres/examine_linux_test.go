package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestFullTablespace examines a database whose tables are on a disk that becomes full.
func TestFullTablespace(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	server := pgtest.StartServer(t)
	db := openTest(t, server.Database(t))
	var data string
	testenv.NoError(t, db.QueryRow(t.Context(), `SHOW data_directory`, nil, &data))
	dir := filepath.Join(filepath.Dir(data), "small") // which the server may enter
	testenv.SmallDisk(t, dir, "size=16m,mode=777")
	for _, text := range []string{
		`COPY (SELECT) TO PROGRAM 'mkdir ` + dir + `/space'`, `CREATE TABLESPACE small LOCATION '` + dir + `/space'`, `CREATE DATABASE small TABLESPACE small`,
	} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	full := func() bool {
		found := testenv.Of(Examine(t.Context(), server.URL("small"))).Must(t)
		return found.Unusable != nil && strings.Contains(found.Unusable.Problem, "No space left on device")
	}
	testenv.Equal(t, "full before", false, full())
	ballast := testenv.FillDisk(t, dir)
	testenv.Equal(t, "full", true, full())
	testenv.NoError(t, os.Remove(ballast))
	testenv.Equal(t, "full after", false, full())
}
