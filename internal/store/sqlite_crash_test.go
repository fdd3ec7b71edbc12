package store

import (
	"bufio"
	"path/filepath"
	"strconv"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/storetest"
	"merchantorders/internal/testenv"
)

// TestSQLiteKilled kills a process that commits without pause, again and again,
// and checks that everything acknowledged is stored.
func TestSQLiteKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	testenv.NoError(t, addTestMerchant(t.Context(), openTest(t, path), childMerchant))
	var lines []string
	for round := range 4 {
		lines = append(lines, killed(t, path, 5+40*round)...)
		db := openTest(t, path)
		added, accepted := acknowledged(t, lines)
		for _, reference := range added {
			if _, err := db.Order(t.Context(), childMerchant, order.ByReference(reference)); err != nil {
				t.Errorf("order %s was acknowledged: %v", reference, err)
			}
		}
		for _, reference := range accepted {
			testenv.Equal(t, "state of "+reference+", whose accept was acknowledged", order.InProcessing, testenv.Of(db.Order(t.Context(), childMerchant, order.ByReference(reference))).Must(t).State)
		}
		storetest.CheckTables(t, sqlOn(t, path))
	}
}

// killed runs a process that commits until it has printed enough lines, kills
// it and returns everything it printed.
func killed(t *testing.T, path string, enough int) []string {
	t.Helper()
	cmd := child(t, "commit", path)
	output := testenv.Of(cmd.StdoutPipe()).Must(t)
	testenv.NoError(t, cmd.Start())
	var lines []string
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if len(lines) == enough {
			testenv.NoError(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(lines) < enough {
		t.Fatalf("the child ended by itself after %d lines: %v", len(lines), err)
	}
	return lines
}

// TestSQLiteKeepsItsLocks opens and closes the database beside a handle of the
// same process. Were the handle's locks lost by that, the next process to close
// the database could take the write-ahead log away from under it.
func TestSQLiteKeepsItsLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	testenv.NoError(t, addTestMerchant(t.Context(), db, childMerchant))
	for i := range 3 {
		beside := testenv.Of(OpenSQLite(t.Context(), path, Options{})).Must(t)
		testenv.NoError(t, beside.Close())
		testenv.Equal(t, "another process finds the database locked", "true", string(testenv.Of(child(t, "locked", path).Output()).Must(t)))
		testenv.NoError(t, child(t, "open", path).Run())
		testenv.Of(db.ImportOrders(t.Context(), testBatch(childMerchant, strconv.Itoa(i), 5), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
		count, err := child(t, "count", path).Output()
		if want := strconv.Itoa(5 * (i + 1)); err != nil || string(count) != want {
			t.Errorf("another process sees %s orders, error %v, want %s", count, err, want)
		}
	}
}
