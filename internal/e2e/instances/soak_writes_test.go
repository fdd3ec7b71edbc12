package instances

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
)

// change is a request that writes, and how its responses are judged.
type change struct {
	client       client
	method, path string
	body         string
	done         int // status of a success; 0: 200
	// right reports whether an event is that of the change, for the response to it.
	right func(response, committed) bool
	// refusals are the responses that say why it was not done: by status and message,
	// whether they are those of the moment after an event.
	refusals []refusal
}

type refusal struct {
	status   int
	message  string // part of it
	explains func(*timeline, int64) bool
}

// maxTries limits how often a change is sent.
const maxTries = 5

// write makes a change. If no response arrives it sends the change again, if that
// has a key. It returns the response, and false if nobody knows what has become of
// the change.
func (w *soakWorker) write(m *soakMerchant, c change) (response, bool) {
	w.made++
	id := fmt.Sprintf("soak-%d-%d", w.who, w.made)
	c.client = c.client.With("X-Request-Id", id)
	keyed := w.dice.IntN(2) == 0 && strings.HasPrefix(c.client.Token, "mo_")
	if keyed {
		c.client = c.client.With("Idempotency-Key", id)
	}
	a := w.ask()
	w.times.call(id, a.at)
	for try := 0; try < maxTries && (try == 0 || keyed); try++ {
		got, ok := w.send(w.pick(w.dice), c.method, c.path, func(base string) (response, error) {
			c.client.Base = base
			return c.client.Try(c.method, c.path, c.body)
		})
		switch {
		case ok && (got.Status != http.StatusConflict || !keyed):
			w.judge(m, a, id, c, got)
			return got, true
		case !w.sleep(time.Second):
			return response{}, false
		}
	}
	return response{}, false
}

// judge takes the response to a change to be checked.
func (w *soakWorker) judge(m *soakMerchant, a asked, id string, c change, got response) {
	o := observed{what: fmt.Sprintf("%s %s %s: %d %s", c.method, c.path, id, got.Status, got.Body)}
	if got.Status == max(c.done, http.StatusOK) {
		w.times.finish(id, w.now())
		o.wrote, o.right = id, func(e committed) bool { return c.right(got, e) }
		w.saw(m, a, o)
		return
	}
	o.failed = id
	for _, r := range c.refusals {
		if got.Status == r.status && strings.Contains(apptest.Message(got), r.message) {
			o.explains = r.explains
			w.saw(m, a, o)
			return
		}
	}
	w.problem("merchant %d: %s: not a response to it", m.id, o.what)
}

// notFound is the refusal for an order that does not exist.
func notFound(n sample) refusal { return refusal{http.StatusNotFound, "The order", missing(n)} }

// move moves an order to another state, mostly one that it can have next, as the
// merchant or the marketplace. state is the one that was read last; empty: none.
func (w *soakWorker) move(m *soakMerchant, n sample, state string) {
	if state == "O" || state == order.Registered.String() || w.dice.IntN(8) == 0 {
		w.decide(m, n)
		return
	}
	from, ok := order.ParseState(state)
	if !ok && len(state) == 1 {
		from = order.StatesOfCode(state[0])[0]
	}
	to := operatorMoves[w.dice.IntN(len(operatorMoves))]
	for try := 0; try < 20 && !order.ActorOperator.CanTransition(from, to); try++ {
		to = operatorMoves[w.dice.IntN(len(operatorMoves))]
	}
	w.transition(m, n, to)
}

// decide accepts or rejects an order.
func (w *soakWorker) decide(m *soakMerchant, n sample) {
	d := decisions[w.dice.IntN(len(decisions))]
	w.write(m, change{
		client: w.client(m), method: d.Method, path: d.Path(n), body: d.Body,
		right: func(_ response, e committed) bool {
			return e.kind == order.OrderStateChanged && e.order == n && e.to == d.Makes && e.actor == order.ActorMerchant
		},
		refusals: []refusal{notFound(n), {http.StatusBadRequest, d.Refusal, where(n, func(m moment) bool { return m.state != order.Registered })}},
	})
}

// transition moves an order as the marketplace does.
func (w *soakWorker) transition(m *soakMerchant, n sample, to order.State) {
	w.write(m, change{
		client: w.operator, method: http.MethodPost, path: fmt.Sprintf("/operator/merchants/%d/orders/%s/state", m.id, n.Reference()),
		body: `{"state":"` + to.String() + `"}`,
		right: func(_ response, e committed) bool {
			return e.kind == order.OrderStateChanged && e.order == n && e.to == to && e.actor == order.ActorOperator
		},
		refusals: []refusal{
			{http.StatusNotFound, "", missing(n)},
			{http.StatusConflict, "", where(n, func(m moment) bool { return !order.ActorOperator.CanTransition(m.state, to) })},
		},
	})
}

// post imports an order: a new one, or one that was imported before and may be lost.
func (w *soakWorker) post(m *soakMerchant, n sample, _ string) {
	if w.dice.IntN(4) == 0 {
		n = w.fresh(m, 1)[0]
	}
	w.write(m, change{
		client: w.operator, method: http.MethodPost, path: "/operator/orders", body: string(apptest.Registered(m.id, n, 1)), done: http.StatusCreated,
		right:    func(_ response, e committed) bool { return e.kind == order.OrderCreated && e.order == n },
		refusals: []refusal{{http.StatusOK, "", allExist([]sample{n})}},
	})
}

// upload uploads a file. It is refused if other uploads may have taken the slots.
func (w *soakWorker) upload(m *soakMerchant, n sample, _ string) {
	w.uploading.RLock()
	defer w.uploading.RUnlock()
	name := fmt.Sprintf("invoice-%d-%d.pdf", w.who, w.made)
	one := w.uploads.start(n, w.now())
	afterReplacement := w.sinceReplacement() < reservationTime
	full := func(m moment) bool {
		return afterReplacement || len(m.files)+w.uploads.beside(n, one) >= order.MaxInvoices
	}
	_, known := w.write(m, change{
		client: w.client(m), method: http.MethodPost, path: n.Path(w.dice.IntN(2)) + "/invoices", body: apptest.UploadBody(name, contentOf(n, name)),
		right: func(got response, e committed) bool {
			shown, err := apptest.Uploaded(got)
			return err == nil && e.kind == order.InvoiceUploaded && e.order == n && e.invoice == shown.ID
		},
		refusals: []refusal{
			notFound(n), {http.StatusBadRequest, tooManyFiles, where(n, full)},
			{http.StatusInternalServerError, uploadFailed, nil},
		},
	})
	end := w.now()
	if !known {
		end += reservationTime
	}
	w.uploads.finish(one, end)
}

// remove deletes a file of an order, or one that it does not have.
func (w *soakWorker) remove(m *soakMerchant, n sample, _ string) {
	version, id := 1+w.dice.IntN(2), int64(1<<40)
	if _, files := w.readSingle(m, n, version); len(files) > 0 {
		id = files[w.dice.IntN(len(files))].ID
	}
	w.write(m, change{
		client: w.client(m), method: http.MethodDelete, path: fmt.Sprintf("%s/invoices/%d", n.Path(version-1), id),
		right: func(_ response, e committed) bool {
			return e.kind == order.InvoiceDeleted && e.order == n && e.invoice == id
		},
		// The same for an order that does not exist (spec 7.1).
		refusals: []refusal{{http.StatusNotFound, notThere, func(l *timeline, seq int64) bool {
			m, _ := l.at(n, seq)
			return !slices.Contains(m.files, id)
		}}},
	})
}

// sinceReplacement returns how long ago the database was replaced.
func (s *soak) sinceReplacement() time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.phase == 0 {
		return never
	}
	return s.now() - s.replaced
}
