package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// The test program starts itself as another process that has the database open.
// These variables say what that process does, and on which file.
const (
	childVariable = "STORE_TEST_CHILD"
	childPath     = "STORE_TEST_PATH"
)

// childMerchant is whose orders child processes add.
const childMerchant = 355

// child returns a process that does a piece of work of childWork.
func child(t testing.TB, work, path string) *exec.Cmd {
	t.Helper()
	program := testenv.Of(os.Executable()).Must(t)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childVariable+"="+work, childPath+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// childWork is what a child process can do with a database.
var childWork = map[string]func(context.Context, string) error{
	// open does nothing with it.
	"open": func(ctx context.Context, path string) error {
		return withDatabase(ctx, path, func(*DB) error { return nil })
	},
	// count prints how many orders there are.
	"count": func(ctx context.Context, path string) error {
		return withDatabase(ctx, path, func(db *DB) error {
			page, err := db.List(ctx, childMerchant, order.NewFilter())
			fmt.Print(page.Total)
			return err
		})
	},
	// commit adds orders and accepts them until it is killed.
	"commit": func(ctx context.Context, path string) error {
		return withDatabase(ctx, path, func(db *DB) error { return commitForever(ctx, db) })
	},
	// locked prints whether another process holds the lock that says that it
	// has the database open.
	"locked": func(_ context.Context, path string) error {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sqliteSharedFirst, Len: sqliteSharedSize}
		err = syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock)
		fmt.Print(lock.Type != syscall.F_UNLCK)
		return err
	},
}

// The bytes of the file on which SQLite's connections hold a shared lock.
const (
	sqliteSharedFirst = 0x40000002
	sqliteSharedSize  = 510
)

func withDatabase(ctx context.Context, path string, do func(*DB) error) error {
	db, err := OpenSQLite(ctx, path, Options{})
	if err != nil {
		return err
	}
	if err := do(db); err != nil {
		return err
	}
	return db.Close()
}

// childMain is what the test program does as a child process.
func childMain(work string) int {
	if err := childWork[work](context.Background(), os.Getenv(childPath)); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

// commitForever adds orders and accepts them, several at a time, and prints
// what has been acknowledged: a line as soon as a call has returned.
func commitForever(ctx context.Context, db *DB) error {
	failed := make(chan error, 1)
	var print sync.Mutex
	acknowledge := func(line string) {
		print.Lock()
		defer print.Unlock()
		// One write, so that no line is ever torn.
		_, _ = os.Stdout.WriteString(line + "\n")
	}
	for worker := range 3 {
		go func() {
			for i := 0; ; i++ {
				batch := make([]order.Incoming, 1+i%3)
				for j := range batch {
					batch[j] = testOrder(childMerchant, fmt.Sprintf("P%d-%d-%d-%d", os.Getpid(), worker, i, j))
				}
				results, err := db.ImportOrders(ctx, batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
				if err != nil {
					failed <- err
					return
				}
				for _, incoming := range batch {
					acknowledge("added " + incoming.Order.Reference)
				}
				if err := transitionTest(ctx, db, childMerchant, results[0].LegacyID, order.InProcessing); err != nil {
					failed <- err
					return
				}
				acknowledge("accepted " + batch[0].Order.Reference)
			}
		}()
	}
	return <-failed
}

// acknowledged splits what commitForever printed.
func acknowledged(t *testing.T, lines []string) (added, accepted []string) {
	t.Helper()
	for _, line := range lines {
		switch did, reference, _ := strings.Cut(line, " "); did {
		case "added":
			added = append(added, reference)
		case "accepted":
			accepted = append(accepted, reference)
		default:
			t.Fatalf("the child printed %q", line)
		}
	}
	return added, accepted
}
