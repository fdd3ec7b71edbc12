package robust

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// TestTwoImportsOfOneFile runs two imports of the same file at once, beside a
// server on which orders are accepted and listed.
//
// It guards that each order is looked for and added under one lock: otherwise
// one import fails, or an order is there twice, or the counts do not add up.
func TestTwoImportsOfOneFile(t *testing.T) {
	t.Parallel()
	const orders, accepts = 3000, 100
	s := start(t)
	s.Import(t, registered(orders+1, accepts)...)
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	testenv.NoError(t, os.WriteFile(file, bytes.Join(registered(1, orders), []byte("\n")), 0o600))
	var others sync.WaitGroup
	var ended atomic.Bool
	others.Go(func() {
		for n := sample(orders + 1); n <= orders+accepts; n++ {
			if got := s.ask(t, http.MethodPatch, n.v2()+"/accept", ""); got.status != http.StatusOK {
				t.Errorf("accept beside an import: %d %s", got.status, got.body)
			}
		}
	})
	others.Go(func() {
		for last := accepts; !ended.Load(); {
			total := s.total(t, "")
			if total < last {
				t.Errorf("%d orders, and there were %d", total, last)
			}
			last = total
		}
	})
	var done [2]counts
	testenv.Together(len(done), func(i int, ready func()) {
		ready()
		result := run(t, "--data", s.Data, "import", file)
		if result.Code != 0 {
			t.Errorf("import %d: exit code %d\n%s", i, result.Code, result.Stderr)
		}
		done[i] = parseCounts(t, result.Stdout)
	})
	ended.Store(true)
	others.Wait()
	if done[0].created+done[1].created != orders || done[0].unchanged+done[1].unchanged != orders {
		t.Errorf("two imports of %d orders: %+v and %+v", orders, done[0], done[1])
	}
	states := s.walk(t)
	if len(states) != orders+accepts || counted(states)[accepted] != accepts {
		t.Errorf("%d orders, want %d; by state %v", len(states), orders+accepts, counted(states))
	}
}

// TestKilledImportIsRunAgain kills an import half-way and runs it again.
//
// It guards that a batch comes in whole or not at all, and that what is there
// already is 'unchanged': otherwise the second run conflicts with the first.
func TestKilledImportIsRunAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	documents := marked{1, 4000}
	text := documents.text()
	var marks atomic.Int64
	first := startImport(t, s.Data, func(int) { marks.Add(1) })
	if _, err := first.input.Write(text[:len(text)/2]); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "a quarter is taken in", func() bool { return marks.Load() > 100 })
	testenv.NoError(t, first.command.Process.Kill())
	first.end()
	sure := int(marks.Load()) * markEvery
	there := s.total(t, "")
	if there < sure || there >= documents.count {
		t.Errorf("%d orders after the kill, %d were acknowledged", there, sure)
	}

	second := startImport(t, s.Data, func(int) {})
	if _, err := second.input.Write(text); err != nil {
		t.Fatal(err)
	}
	_ = second.input.Close()
	if code := second.end(); code != 1 {
		t.Errorf("exit code %d, want 1 as there are refused lines", code)
	}
	got := parseCounts(t, second.stdout.String())
	if err := documents.clean(got); err != nil || got.unchanged != there {
		t.Errorf("the second run: %+v %v, want %d unchanged", got, err, there)
	}
	if states := s.walk(t); len(states) != documents.count {
		t.Errorf("%d orders, want %d", len(states), documents.count)
	}
}

// TestStoppedImportCountsTruly stops an import with SIGTERM while it waits for
// more.
//
// It guards that what it counts is what it has taken in.
func TestStoppedImportCountsTruly(t *testing.T) {
	t.Parallel()
	s := start(t)
	documents := marked{1, 200}
	var marks atomic.Int64
	imports := startImport(t, s.Data, func(int) { marks.Add(1) })
	if _, err := imports.input.Write(documents.text()); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "all is taken in", func() bool { return marks.Load() == 20 })
	testenv.NoError(t, imports.command.Process.Signal(syscall.SIGTERM))
	if code := imports.end(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if err := documents.clean(parseCounts(t, imports.stdout.String())); err != nil {
		t.Error(err)
	}
	if got := s.total(t, ""); got != documents.count {
		t.Errorf("%d orders, want %d", got, documents.count)
	}
}

// TestWaitingImportBlocksNobody has an import wait for its input while the
// server writes.
//
// It guards that no transaction is open while there is nothing to read, and
// that what has come is taken in before it waits. With the lock held the
// server's writes end as 503 after 10 seconds.
func TestWaitingImportBlocksNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	imports := startImport(t, s.Data, func(int) {})
	for n := sample(1); n <= 5; n++ {
		document := append(registered(n, 1)[0], '\n')
		// And the beginning of the next line.
		if _, err := imports.input.Write(append(document, `{"merchantId":`...)); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, "the order is there", func() bool { return s.total(t, "") == int(n) })
		if got := s.ask(t, http.MethodPatch, n.v2()+"/accept", ""); got.status != http.StatusOK {
			t.Errorf("accept while an import waits: %d %s", got.status, got.body)
		}
		got, _, err := s.upload(n.v1(), "a.pdf", []byte("content"))
		if err != nil || got.status != http.StatusOK {
			t.Errorf("upload while an import waits: %d %s %v", got.status, got.body, err)
		}
		if _, err := io.WriteString(imports.input, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = imports.input.Close()
	if code := imports.end(); code != 1 {
		t.Errorf("exit code %d, want 1 as there are refused lines", code)
	}
	if got, want := parseCounts(t, imports.stdout.String()), (counts{created: 5, invalid: 5}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}
