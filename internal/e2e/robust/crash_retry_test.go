package robust

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// keyed is a write with its key, and what is known of it.
type keyed struct {
	key, method, path, body string
	response                response // status 0: none has arrived
}

// tryKeyed sends a write.
func (c client) tryKeyed(w keyed) (response, error) {
	return c.With("Idempotency-Key", w.key).Try(w.method, w.path, w.body)
}

// TestRetryAfterKill kills a server, as kill -9 does, while clients accept,
// reject and upload under keys. The server that comes after it gives every response
// again that had arrived, and makes what had not been made: each write once, none
// with an error, and no key is stuck.
//
// It guards that a response is recorded with its change, and that a key whose upload
// died is free when its reservation has expired.
func TestRetryAfterKill(t *testing.T) {
	t.Parallel()
	rounds := testenv.Count(4, 40)
	dice := rand.New(rand.NewPCG(seed(t), 1))
	data := filepath.Join(t.TempDir(), "data")
	server := startOn(t, data, "--log-level", "warn")
	repeated, late := 0, 0
	for round := range rounds {
		first := sample(1 + round*killedClients*killedOrders)
		server.Import(t, registered(first, killedClients*killedOrders))
		writes := server.killedWhileWriting(t, first, dice)
		server = startOn(t, data, "--log-level", "warn")
		for _, w := range writes {
			if w.response.Status != 0 {
				repeated++
			} else {
				late++
			}
			server.settle(t, w)
		}
		for n := first; n < first+killedClients*killedOrders; n++ {
			moved, stored := events(t, data, n, order.OrderStateChanged), events(t, data, n, order.InvoiceUploaded)
			if moved > 1 || stored > 1 {
				t.Errorf("order %s was moved %d times and got %d files", n.Reference(), moved, stored)
			}
		}
		if left := reserved(t, data); left != 0 || t.Failed() {
			t.Fatalf("after round %d: %d reservations are left", round, left)
		}
	}
	t.Logf("%d responses given again, %d writes whose response was lost", repeated, late)
}

// The clients of one round, and the orders that each of them has.
const (
	killedClients = 6
	killedOrders  = 25
)

// killedWhileWriting has clients write until there are enough responses, kills the server
// a little later, and returns what they have tried.
func (r running) killedWhileWriting(t *testing.T, first sample, dice *rand.Rand) []keyed {
	t.Helper()
	writes := make([][]keyed, killedClients)
	heard := make(chan struct{}, killedClients*killedOrders*2)
	var working sync.WaitGroup
	for i := range killedClients {
		working.Go(func() { writes[i] = r.writeUnderKeys(t, first+sample(i*killedOrders), killedOrders, heard) })
	}
	for range 20 + dice.IntN(killedClients*killedOrders) {
		select {
		case <-heard:
		case <-time.After(testenv.WaitTimeout):
			t.Fatal("the clients get no further")
		}
	}
	time.Sleep(time.Duration(dice.IntN(3000)) * time.Microsecond)
	r.Kill(t)
	working.Wait()
	return slices.Concat(writes...)
}

// writeUnderKeys responses orders and uploads a file to each, until the server is
// killed. heard gets a word for each response.
func (r running) writeUnderKeys(t *testing.T, first sample, count int, heard chan<- struct{}) []keyed {
	var writes []keyed
	for n := first; n < first+sample(count); n++ {
		a := apptest.Decisions[int(n)%len(apptest.Decisions)]
		content := bytes.Repeat([]byte(n.Reference()), 2000)
		for _, w := range []keyed{
			{key: "decide " + n.Reference(), method: a.Method, path: a.Path(n), body: a.Body},
			{key: "upload " + n.Reference(), method: http.MethodPost, path: n.Path(int(n)) + "/invoices", body: apptest.UploadBody("a.pdf", content)},
		} {
			got, err := r.tryKeyed(w)
			if err == nil {
				w.response = got
				heard <- struct{}{}
			}
			writes = append(writes, w)
			if err != nil {
				return writes // the server was killed
			}
			if got.Status != http.StatusOK {
				t.Errorf("%s: %d %s", w.key, got.Status, got.Body)
			}
		}
	}
	return writes
}

// settle repeats a write until it is known what became of it, and sees that it
// is once what it was before.
func (r running) settle(t *testing.T, w keyed) {
	t.Helper()
	for range 2 {
		got, err := r.tryKeyed(w)
		if err != nil || got.Status != http.StatusOK {
			t.Errorf("%s again: %d %s, %v", w.key, got.Status, got.Body, err)
			return
		}
		again := got.Header.Get("Idempotent-Replayed") == "true"
		if w.response.Status != 0 {
			if diff := cmp.Diff(w.response.Body, got.Body); diff != "" || !again {
				t.Errorf("%s again: given again %v (-first +again):\n%s", w.key, again, diff)
			}
			if want, got := w.response.Header.Get("ETag"), got.Header.Get("ETag"); got != want {
				t.Errorf("%s again: ETag %s, want %s", w.key, got, want)
			}
		}
		w.response = got
	}
}
