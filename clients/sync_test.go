package clients_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

var kills = flag.Int("kills", 3, "how often TestSync kills each program, and its server")

// The orders of a merchant at first, those that a round adds, and which of the first it
// changes: each twentieth.
const (
	firstOrders = 300
	roundOrders = 20
	changesStep = 20
)

// difficult is a text, as JSON, of characters that encoders write in several ways.
const difficult = `/ <b>&amp; \"\\ \b\u007f \ud83d\ude00`

// orders are orders by reference.
type orders map[string]string

// TestSync runs the sync program of each page while orders arrive and change, and kills it
// and the server at random moments, as kill -9 does. In the end its copy has exactly what
// the service exports, byte for byte, also after the restore of a backup.
func TestSync(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := syncing{T: t, folder: t.TempDir(), data: filepath.Join(t.TempDir(), "data"), address: testenv.FreeAddress(t)}
			s.program = l.program(t, s.folder, programOf(t, l))
			s.serve()
			s.token = s.server.Merchant(t, apptest.MerchantID)
			first := bytes.ReplaceAll(apptest.Registered(apptest.MerchantID, 1, firstOrders), []byte("Παράδοση στο σπίτι"), []byte(difficult))
			s.server.Import(t, first)
			backup := filepath.Join(t.TempDir(), "backup.tar")
			s.server.Run(t, "", "backup", backup).WantText(t, 0, "")
			for round := range *kills {
				stop, changed := s.start(), s.change(round)
				pause(600 * time.Millisecond)
				s.server.Kill(t)
				if round%2 == 0 { // otherwise it meets the new server
					stop()
				}
				s.serve()
				s.server.Import(t, apptest.Registered(apptest.MerchantID, apptest.Sample(1+firstOrders+round*roundOrders), roundOrders))
				pause(300 * time.Millisecond)
				stop()
				changed()
			}
			stop := s.start()
			defer stop()
			s.wantCopy(l, firstOrders+*kills*roundOrders)
			s.server.Kill(t)
			testenv.NoError(t, os.RemoveAll(s.data))
			s.server.Run(t, "", "restore", backup).WantText(t, 0, "")
			s.serve()
			// New events get all numbers that the program has seen.
			again := *kills*(roundOrders+2*firstOrders/changesStep) + 1
			s.server.Import(t, apptest.Registered(apptest.MerchantID, 10_000, again))
			s.wantCopy(l, firstOrders+again)
		})
	}
}

// wantCopy waits until the copy is what the service has.
func (s *syncing) wantCopy(l language, count int) {
	s.Helper()
	want := shownByService(s.T, s.server.BaseURL, s.token)
	testenv.Equal(s, "orders of the service", count, len(want))
	var got orders
	defer func() {
		if s.Failed() {
			s.Log("the copy (-service +copy):\n", cmp.Diff(want, got))
		}
	}()
	testenv.Eventually(s.T, "the copy is equal", func() bool {
		got = l.copied(s.T, s.folder)
		return maps.Equal(want, got)
	})
	s.Logf("%d orders are equal", count)
}

// pause waits for a random time, so that kills hit different work.
func pause(most time.Duration) { time.Sleep(rand.N(most)) }

// syncing is a sync program in a folder, and its server.
type syncing struct {
	*testing.T
	program                      func(environment ...string) (*exec.Cmd, *bytes.Buffer)
	server                       *apptest.Process
	folder, data, address, token string
}

func (s *syncing) serve() {
	s.Helper()
	s.server = apptest.StartProcess(s.T, s.data, "--listen", s.address, "--log-level", "error")
}

// start starts the program, and returns a function that kills it. The program does not
// end by itself.
func (s *syncing) start() func() {
	s.Helper()
	command, output := s.program("ORDERS_URL="+s.server.BaseURL, "ORDERS_TOKEN="+s.token)
	testenv.NoError(s.T, command.Start())
	return sync.OnceFunc(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // the error says that it was killed
		if command.ProcessState.Exited() {
			s.Errorf("the program ended: %v\n%s", command.ProcessState, output)
		}
	})
}

// change accepts orders and uploads files, some of which the killed server refuses, and
// returns a function that ends it.
func (s *syncing) change(round int) func() {
	end := make(chan struct{})
	var running sync.WaitGroup
	merchant := apptest.NewClient(s.T, s.server.BaseURL, s.token)
	running.Go(func() {
		for n := 1 + round; n <= firstOrders; n += changesStep {
			select {
			case <-end:
				return
			default:
				path := apptest.Sample(n).V2()
				_, _ = merchant.Try(http.MethodPatch, path+"/accept", "") // also without a server
				_, _, _ = merchant.Upload(path, "invoice.pdf", []byte("%PDF-1.4"))
			}
		}
	})
	return func() { close(end); running.Wait() }
}

// shownByService returns what the service exports.
func shownByService(t *testing.T, address, token string) orders {
	t.Helper()
	response := testenv.Send(t, token, http.MethodGet, address+"/v2/orders/export", "")
	result := make(orders)
	for line := range strings.Lines(response.Body) {
		if !strings.HasPrefix(line, `{"summary"`) {
			result.add(t, []byte(strings.TrimSuffix(line, "\n")))
		}
	}
	return result
}

func (o orders) add(t *testing.T, document []byte) {
	t.Helper()
	var order struct{ ID string }
	if err := json.Unmarshal(document, &order); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	o[order.ID] = string(document)
}

// databaseCopied reads the copy in an SQLite database.
func databaseCopied(t *testing.T, folder string) orders {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(60000)", filepath.Join(folder, "orders.db")))).Must(t)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), "SELECT document FROM orders")
	if err != nil {
		return nil // no table yet
	}
	defer func() { _ = rows.Close() }()
	result := make(orders)
	for rows.Next() {
		var document []byte
		testenv.NoError(t, rows.Scan(&document))
		result.add(t, document)
	}
	testenv.NoError(t, rows.Err())
	return result
}

// filesCopied reads the copy in a folder with a file for each order.
func filesCopied(t *testing.T, folder string) orders {
	t.Helper()
	files := testenv.Of(filepath.Glob(filepath.Join(folder, "orders", "*.json"))).Must(t)
	result := make(orders)
	for _, file := range files {
		if document, err := os.ReadFile(file); err == nil { // it may be removed meanwhile
			result.add(t, document)
		}
	}
	return result
}
