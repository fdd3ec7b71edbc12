package instances

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// soakOperator works for the marketplace: it sends streams of transitions of several
// merchants in any order, searches, and reads the audit log.
type soakOperator struct {
	*soak
	dice *rand.Rand
	who  int
	made int // streams
}

const (
	soakOperators = 2
	// operatorPause is the mean time between two requests of an operator.
	operatorPause = 3 * time.Second
	// streamLines is the most lines of a stream.
	streamLines = 120
	// streamPrefix begins the ids of requests that make one change each of many orders.
	streamPrefix = "stream-"
)

func (w *soakOperator) work() {
	for w.sleep(time.Duration(w.dice.ExpFloat64() * float64(operatorPause))) {
		switch w.dice.IntN(3) {
		case 0:
			w.stream()
		case 1:
			w.search()
		case 2:
			w.audit()
		}
	}
}

// streamLine is a line of a stream.
type streamLine struct {
	merchant *soakMerchant
	order    sample
	to       order.State
}

// stream sends transitions of different orders of all merchants, in random order. Nobody
// knows what has become of lines whose result does not arrive.
func (w *soakOperator) stream() {
	w.made++
	id := fmt.Sprintf("%s%d-%d", streamPrefix, w.who, w.made)
	lines, body := w.lines()
	c := w.operator.With("X-Request-Id", id)
	if w.dice.IntN(2) == 0 {
		c = c.With("Idempotency-Key", id)
	}
	a := w.ask()
	for _, line := range lines {
		w.times.call(changeKey(id, line.order), a.at)
	}
	const path = "/operator/orders/transitions"
	got, ok := w.send(w.pick(w.dice), http.MethodPost, path, func(base string) (response, error) {
		c.Base = base
		return c.Try(http.MethodPost, path, body)
	})
	if !ok {
		return
	}
	if got.Status != http.StatusOK {
		w.problem("stream %s: %d %s", id, got.Status, got.Body)
		return
	}
	w.counts.streams.Add(1)
	for text := range strings.Lines(got.Body) {
		var result struct {
			Line    int
			Status  string
			Problem string
			Summary map[string]int
		}
		if err := json.Unmarshal([]byte(text), &result); err != nil || result.Line > len(lines) {
			w.problem("stream %s: %s, %v", id, text, err)
		} else if result.Summary == nil {
			w.judge(a, id, lines[result.Line-1], result.Status, text)
		}
	}
}

// lines returns lines about different orders and the body that has them.
func (w *soakOperator) lines() (lines []streamLine, body string) {
	seen := make(map[sample]bool)
	for range 1 + w.dice.IntN(streamLines) {
		m := w.merchants[w.dice.IntN(len(w.merchants))]
		line := streamLine{m, m.any(w.dice), operatorMoves[w.dice.IntN(len(operatorMoves))]}
		if seen[line.order] {
			continue
		}
		seen[line.order] = true
		lines = append(lines, line)
		body += fmt.Sprintf(`{"merchantId":%d,"reference":%q,"state":%q}`+"\n", m.id, line.order.Reference(), line.to)
	}
	return lines, body
}

// judge takes the result of a line to be checked.
func (w *soakOperator) judge(a asked, id string, line streamLine, status, text string) {
	n, to, key := line.order, line.to, changeKey(id, line.order)
	o := observed{what: "stream " + id + ": " + strings.TrimSpace(text)}
	switch status {
	case "changed":
		w.times.finish(key, w.now())
		o.wrote, o.right = key, func(e committed) bool {
			return e.kind == order.OrderStateChanged && e.order == n && e.to == to && e.actor == order.ActorOperator
		}
	case "unchanged":
		o.failed, o.explains = key, where(n, func(m moment) bool { return m.state == to })
	case "refused":
		o.failed, o.explains = key, where(n, func(m moment) bool { return !order.ActorOperator.CanTransition(m.state, to) })
	case "not_found":
		o.failed, o.explains = key, missing(n)
	default:
		w.problem("%s: not a result of it", o.what)
		return
	}
	w.counts.lines.Add(1)
	w.saw(line.merchant, a, o)
}

// read reads something as an operator. explains says how a response is explained.
func (w *soakOperator) read(m *soakMerchant, path string, explains func(body string) (func(*timeline, int64) bool, error)) {
	a := w.ask()
	got, ok := w.send(w.pick(w.dice), http.MethodGet, path, func(base string) (response, error) {
		c := w.operator
		c.Base = base
		return c.Try(http.MethodGet, path, "")
	})
	if !ok {
		return
	}
	o := observed{what: fmt.Sprintf("GET %s: %d %.2000s", path, got.Status, got.Body)}
	var err error
	if o.explains, err = explains(got.Body); err != nil || got.Status != http.StatusOK {
		w.problem("%s: %v", o.what, err)
		return
	}
	w.counts.searches.Add(1)
	w.saw(m, a, o)
}

// search searches for an order by its reference.
func (w *soakOperator) search() {
	m := w.merchants[w.dice.IntN(len(w.merchants))]
	n := m.any(w.dice)
	w.read(m, fmt.Sprintf("/operator/orders?merchantId=%d&reference=%s", m.id, n.Reference()), func(body string) (func(*timeline, int64) bool, error) {
		var page struct {
			Orders []struct {
				OrderReference, State string
				Invoices              int
			}
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Orders) == 0 {
			return missing(n), err
		}
		found := page.Orders[0]
		if len(page.Orders) > 1 || found.OrderReference != n.Reference() {
			return nil, fmt.Errorf("%d orders, the first is %s", len(page.Orders), found.OrderReference)
		}
		return where(n, func(m moment) bool { return m.state.String() == found.State && len(m.files) == found.Invoices }), nil
	})
}

// audit reads the entries of an order in the audit log: one for each of its events.
func (w *soakOperator) audit() {
	m := w.merchants[w.dice.IntN(len(w.merchants))]
	n := m.any(w.dice)
	w.read(m, fmt.Sprintf("/operator/audit?merchantId=%d&orderReference=%s&limit=1000", m.id, n.Reference()), func(body string) (func(*timeline, int64) bool, error) {
		var page struct {
			Entries []struct{ Action, Actor string }
			Next    *string
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || page.Next != nil {
			return nil, fmt.Errorf("next %v, %w", page.Next, err)
		}
		return func(l *timeline, seq int64) bool {
			at := len(page.Entries) // entries are newest first
			for _, e := range l.events[:seq] {
				if e.order != n {
					continue
				}
				if at--; at < 0 || page.Entries[at].Action != e.kind.String() || page.Entries[at].Actor != e.actor.String() {
					return false
				}
			}
			return at == 0
		}, nil
	})
}
