package instances

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// target is what a history is taken of.
type target interface {
	// do does what is asked for and returns what became of it.
	do(r request) (outcome, error)
}

// history is what clients requested and observed, with the times of both.
type history struct {
	mu         sync.Mutex
	start      time.Time
	operations []porcupine.Operation
	// ids are those of all files that were ever stored for an order.
	ids map[sample][]int64
}

func newHistory() *history {
	return &history{start: time.Now(), ids: make(map[sample][]int64)}
}

// add has a client ask for something and notes what became of it.
func (h *history) add(who int, t target, r request) error {
	called := time.Since(h.start).Nanoseconds()
	got, err := t.do(r)
	returned := time.Since(h.start).Nanoseconds()
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	verbs := []verb{r.verb}
	if r.verb == upload && got.done {
		verbs = []verb{reserve, activate}
		h.ids[r.order] = append(h.ids[r.order], got.id)
	}
	for _, one := range verbs {
		r.verb = one
		h.operations = append(h.operations, porcupine.Operation{ClientId: who, Input: r, Call: called, Output: got, Return: returned})
	}
	return nil
}

// known returns one of the files that were stored for an order, or one that
// there never was.
func (h *history) known(n sample, dice *rand.Rand) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ids := h.ids[n]; len(ids) > 0 {
		// Of the last few: older ones are mostly deleted.
		return ids[max(0, len(ids)-1-dice.IntN(4))]
	}
	return 1 << 40
}

// checkTimeout limits the search for a linearization of a history. Only a
// history for which it is hard to find takes that long.
const checkTimeout = 5 * time.Minute

// legal reports whether one order after the other, each asked one thing at a
// time, could have given all the responses.
func (h *history) legal(t *testing.T) bool {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(model, h.operations, checkTimeout) {
	case porcupine.Ok:
		return true
	case porcupine.Illegal:
		return false
	}
	t.Fatalf("the history of %d operations could not be judged in %v", len(h.operations), checkTimeout)
	return false
}

// TestHistory has clients of two instances do everything that merchants can do
// with a few orders, through both versions, and holds what they observed to a
// model of one order that does one thing at a time. All begin at once with a decision, and
// then an upload.
//
// It guards that the order is locked in the database between the check of its state and
// the change, and that the database assigns file counts; a lock inside a process would let
// two decisions win, and four files stay.
// Proves decision 2 (simultaneous transitions), decision 6 (three at once, 100 in all).
func TestHistory(t *testing.T) {
	onEach(t, func(t *testing.T, i installation) {
		const clients, orders, each = 12, 8, 8
		token := i.filled(t, orders)
		two := i.pair(t, token)
		h, s := newHistory(), service{t: t, instances: two}
		for n := sample(1); n <= orders; n++ {
			testenv.Together(clients, func(who int, ready func()) {
				dice := rand.New(rand.NewPCG(uint64(n), uint64(who)))
				two[who%2].Ask(t, http.MethodGet, "/healthz", "") // opens the connection
				ready()
				for i := range each {
					r := request{order: n, instance: who % 2, version: 1 + dice.IntN(2), file: dice.Int64()}
					switch i {
					case 0:
						r.verb = []verb{accept, reject}[dice.IntN(2)]
					case 1:
						r.verb = upload
					default:
						r.verb, r.instance = []verb{accept, reject, upload, upload, upload, remove, remove, read, read}[dice.IntN(9)], dice.IntN(2)
					}
					if r.verb == remove {
						r.file = h.known(n, dice)
					}
					if err := h.add(who, s, r); err != nil {
						t.Errorf("%+v: %v", r, err)
						return
					}
				}
			})
		}
		if !t.Failed() && !h.legal(t) {
			t.Errorf("no order of %d operations explains what the clients observed", len(h.operations))
		}
	})
}

// service is the target that is tested.
type service struct {
	t         *testing.T
	instances [2]client
}

// do implements target.
func (s service) do(r request) (outcome, error) {
	c := s.instances[r.instance]
	path := r.order.Path(r.version - 1)
	var got response
	var done outcome
	var err error
	refusal, status := "", http.StatusBadRequest
	switch r.verb {
	case accept, reject:
		d := decisions[2*(r.version-1)]
		if r.verb == reject {
			d = decisions[2*(r.version-1)+1]
		}
		refusal = d.Refusal
		got, err = c.Try(d.Method, d.Path(r.order), d.Body)
	case upload:
		var e entry
		got, e, err = c.Upload(path, "invoice.pdf", fmt.Append(nil, r.file))
		done.id, refusal = e.ID, tooManyFiles
	case remove:
		refusal, status = notThere, http.StatusNotFound
		got, err = c.Try(http.MethodDelete, fmt.Sprintf("%s/invoices/%d", path, r.file), "")
	case read:
		shown := c.Order(s.t, r.order, r.version-1)
		done.state = shown.State
		for _, e := range shown.Files {
			done.files = append(done.files, e.ID)
		}
		return done, nil
	}
	switch {
	case err != nil:
		return outcome{}, err
	case got.Status == http.StatusOK:
		done.done = true
		return done, nil
	case got.Status == status && apptest.Message(got) == refusal:
		return outcome{}, nil
	}
	return outcome{}, fmt.Errorf("%d %s", got.Status, got.Body)
}
