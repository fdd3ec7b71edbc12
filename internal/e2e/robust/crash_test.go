package robust

import (
	"bytes"
	"fmt"
	"io"
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

// The clients of one round, the orders that each of them has, and those that are
// imported meanwhile.
const (
	killedClients  = 6
	killedOrders   = 25
	writtenOrders  = killedClients * killedOrders
	importedOrders = 400
	roundOrders    = writtenOrders + importedOrders
)

// TestKilledAtAnyMoment kills a server, as kill -9 does, at random times while clients
// accept, reject, upload and delete under keys and an import runs beside it, which is
// killed as well in every other round. The server that comes after it shows what was
// acknowledged and nothing that was not asked for, cleans up by itself, and gives every
// response again that had arrived. What had not been made is made when it is asked for
// again: each write once, none with an error, and no key is stuck.
//
// It guards that a change is durable before its response, with the record of the
// response, and that a start expires the reservations of unfinished uploads.
// Proves decision 8 (replay; stored with the change).
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	rounds := testenv.Count(6, 60)
	dice := apptest.Dice(t)
	data := filepath.Join(t.TempDir(), "data")
	server := startOn(t, data, "--log-level", "warn")
	want := make(map[string]string) // the state of every order at the end
	interrupted, repeated, late := 0, 0, 0
	for round := range rounds {
		first := sample(1 + round*roundOrders)
		server.Import(t, registered(first, writtenOrders))
		killed := server.killedWhileWriting(t, first, dice)
		interrupted += len(stagedFiles(t, data))
		server = startOn(t, data, "--log-level", "warn")
		server.Import(t, registered(first+writtenOrders, importedOrders)) // what the killed import left out
		server.checkFolders(t)
		states := server.Walk(t)
		testenv.Equal(t, "orders by state, on the pages and in the totals", counted(states), server.Totals(t))
		for _, o := range killed {
			server.checkAcknowledged(t, o, states[o.sample.Reference()])
		}
		testenv.Equal(t, "reservations left", 0, reserved(t, data))
		for _, o := range killed {
			for _, w := range o.writes {
				if w.response.Status != 0 {
					repeated++
				} else {
					late++
				}
				server.settle(t, w)
			}
			want[o.sample.Reference()] = o.decision.Makes.String()
			moved, stored := events(t, data, o.sample, order.OrderStateChanged), events(t, data, o.sample, order.InvoiceUploaded)
			if moved > 1 || stored > 1 {
				t.Errorf("order %s was moved %d times and got %d files", o.sample.Reference(), moved, stored)
			}
		}
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	// What a round has left must outlive the rounds after it.
	got := server.Walk(t)
	for reference, state := range want {
		testenv.Equal(t, "state of order "+reference, state, got[reference])
	}
	testenv.Equal(t, "orders", rounds*roundOrders, len(got))
	t.Logf("%d uploads were interrupted on their way, %d responses given again, %d writes whose response was lost", interrupted, repeated, late)
}

// keyed is a write with its key, and what is known of it.
type keyed struct {
	key, method, path, body string
	response                response // status 0: none has arrived
}

// try sends the write.
func (w keyed) try(c client) (response, error) {
	return c.With("Idempotency-Key", w.key).Try(w.method, w.path, w.body)
}

// written is an order and the writes to it that were tried: a decision, an upload, and
// the deletion of the file of every third order.
type written struct {
	sample   sample
	decision apptest.Decision
	content  []byte
	file     entry // of the upload, once it is known
	writes   []keyed
}

// acknowledged reports whether the write at an index was.
func (o *written) acknowledged(at int) bool {
	return at < len(o.writes) && o.writes[at].response.Status != 0
}

// killedWhileWriting has clients write until there are enough responses, kills the server
// a little later, and returns what they have tried.
func (r running) killedWhileWriting(t *testing.T, first sample, dice *rand.Rand) []*written {
	t.Helper()
	imports := apptest.Command(t, "--data", r.Data, "import", "-")
	input := testenv.Of(imports.StdinPipe()).Must(t)
	testenv.NoError(t, imports.Start())
	go func() {
		_, _ = io.Copy(input, bytes.NewReader(registered(first+writtenOrders, importedOrders))) // it may be killed meanwhile
		_ = input.Close()
	}()
	all := make([][]*written, killedClients)
	heard := make(chan struct{}, 3*writtenOrders)
	var working sync.WaitGroup
	for i := range killedClients {
		working.Go(func() { all[i] = r.writeUnderKeys(t, first+sample(i*killedOrders), heard) })
	}
	for range 20 + dice.IntN(2*writtenOrders) {
		select {
		case <-heard:
		case <-time.After(testenv.WaitTimeout):
			t.Fatal("the clients get no further")
		}
	}
	time.Sleep(time.Duration(dice.IntN(3000)) * time.Microsecond)
	if dice.IntN(2) == 0 {
		_ = imports.Process.Kill()
	}
	r.Kill(t)
	working.Wait()
	_ = imports.Wait() // the death of the server is nothing to it
	return slices.Concat(all...)
}

// writeUnderKeys writes to orders until the server is killed. heard gets a word for each
// response.
func (r running) writeUnderKeys(t *testing.T, first sample, heard chan<- struct{}) []*written {
	var all []*written
	for n := first; n < first+killedOrders; n++ {
		// Some files take longer.
		o := &written{sample: n, decision: apptest.Decisions[int(n)%len(apptest.Decisions)], content: bytes.Repeat([]byte(n.Reference()), 2000)}
		if n%5 == 0 {
			o.content = bytes.Repeat(o.content, 30)
		}
		all = append(all, o)
		send := func(w keyed) bool {
			got, err := w.try(r.client)
			if err == nil {
				w.response = got
				heard <- struct{}{}
			}
			o.writes = append(o.writes, w)
			if err == nil && got.Status != http.StatusOK {
				t.Errorf("%s: %d %s", w.key, got.Status, got.Body)
			}
			return err == nil // else the server was killed
		}
		reference := n.Reference()
		if !send(keyed{key: "decide " + reference, method: o.decision.Method, path: o.decision.Path(n), body: o.decision.Body}) ||
			!send(keyed{key: "upload " + reference, method: http.MethodPost, path: n.Path(int(n)) + "/invoices", body: apptest.UploadBody("a.pdf", o.content)}) {
			return all
		}
		var err error
		if o.file, err = apptest.Uploaded(o.writes[1].response); err != nil {
			t.Errorf("upload to %s: %v", reference, err)
		}
		if n%3 == 0 && !send(keyed{key: "delete " + reference, method: http.MethodDelete, path: fmt.Sprintf("%s/invoices/%d", n.Path(int(n)), o.file.ID)}) {
			return all
		}
	}
	return all
}

// checkAcknowledged compares what is known of an order with what a server shows, and
// stores, after a kill.
func (r running) checkAcknowledged(t *testing.T, o *written, state string) {
	t.Helper()
	if state != o.decision.Makes.String() && (o.acknowledged(0) || state != order.Registered.String()) {
		t.Errorf("order %s is %q; a client made it %s, acknowledged: %v", o.sample.Reference(), state, o.decision.Makes, o.acknowledged(0))
	}
	shown, deletion := r.shown(t, o.sample).Files, len(o.writes) == 3
	for _, e := range shown {
		if !bytes.Equal(r.Download(t, e), o.content) {
			t.Errorf("%s does not hold what was sent", e.URL)
		}
	}
	switch {
	case len(shown) > 1 || len(shown) == 1 && (len(o.writes) < 2 || o.acknowledged(2)):
		t.Errorf("order %s shows %v", o.sample.Reference(), shown)
	case o.acknowledged(1) && !deletion && (len(shown) != 1 || shown[0].ID != o.file.ID):
		t.Errorf("order %s shows %v, and %v was acknowledged", o.sample.Reference(), shown, o.file)
	}
	// A deleted file is there until it is purged.
	if on := stored(t, r.Data, o.sample); len(on) > 1 || len(on) > len(shown) && !deletion {
		t.Errorf("the files %v of order %s belong to no entry", on, o.sample.Reference())
	}
}

// settle repeats a write until it is known what became of it, and sees that it
// is once what it was before.
func (r running) settle(t *testing.T, w keyed) {
	t.Helper()
	for range 2 {
		got, err := w.try(r.client)
		if err != nil || got.Status != http.StatusOK {
			t.Errorf("%s again: %d %s, %v", w.key, got.Status, got.Body, err)
			return
		}
		if w.response.Status != 0 {
			if diff := cmp.Diff(w.response.Body, got.Body); diff != "" || !got.Replayed() {
				t.Errorf("%s again: given again %v (-first +again):\n%s", w.key, got.Replayed(), diff)
			}
			testenv.Equal(t, w.key+" again: ETag", w.response.Header.Get("ETag"), got.Header.Get("ETag"))
		}
		w.response = got
	}
}
