package instances

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// soakWorker is one of the clients that make the mixed load, one request after the
// other.
type soakWorker struct {
	*soak
	dice *rand.Rand
	who  int
	at   int               // the instance that it reads from
	made int               // requests that write
	seen map[string]tagged // by merchant and path
}

// tagged is a response that the worker has kept with its ETag.
type tagged struct {
	tag      string
	explains func(*timeline, int64) bool
}

// work makes requests until the soak ends.
func (w *soakWorker) work() {
	reads := []func(*soakMerchant){w.list, w.list, w.list, w.single, w.single, w.download, w.events}
	writes := []func(*soakMerchant, sample, string){w.move, w.move, w.move, w.upload, w.remove, w.post}
	for w.sleep(time.Duration(w.dice.ExpFloat64() * float64(soakPause))) {
		m := w.merchants[w.dice.IntN(len(w.merchants))]
		if at := w.dice.IntN(len(reads) + 3); at < len(reads) {
			w.at = w.dice.IntN(len(w.instances))
			reads[at](m)
			continue
		}
		w.change(m, writes[w.dice.IntN(len(writes))])
	}
}

// change makes a change, and before and after it the same reads at one instance: what
// that has in its cache then is out of date.
func (w *soakWorker) change(m *soakMerchant, write func(*soakMerchant, sample, string)) {
	n, version, state := w.some(m), 1+w.dice.IntN(2), ""
	at := w.dice.IntN(len(w.instances))
	look := func() {
		w.at = at
		w.readList(m, version, 1, 50, "")
		state, _ = w.readSingle(m, n, version)
	}
	look()
	write(m, n, state)
	look()
}

// client returns the client of a merchant, with one of its tokens.
func (w *soakWorker) client(m *soakMerchant) client {
	c := w.http
	c.Token = m.tokens[w.dice.IntN(len(m.tokens))]
	return c
}

// get reads something through one of the instances. read says how a response is
// explained; it is not called for a 304, which stands for the response with the tag.
func (w *soakWorker) get(m *soakMerchant, where string, read func(response) (func(*timeline, int64) bool, error)) {
	c, key := w.client(m), fmt.Sprint(m.id, where)
	had := w.seen[key]
	conditional := had.tag != "" && w.dice.IntN(2) == 0
	if conditional {
		c = c.With("If-None-Match", had.tag)
	}
	a := w.ask()
	got, ok := w.send(w.prefer(w.at), http.MethodGet, where, func(base string) (response, error) {
		c.Base = base
		return c.Try(http.MethodGet, where, "")
	})
	if !ok {
		return
	}
	w.checkTag(m, where, got)
	o := observed{what: fmt.Sprintf("GET %s: %d %.2000s", where, got.Status, got.Body)}
	if got.Status == http.StatusNotModified && conditional {
		o.explains = had.explains
		o.what += " of " + had.tag
	} else {
		var err error
		if o.explains, err = read(got); err != nil {
			w.problem("%s: %v", o.what, err)
			return
		}
		w.seen[key] = tagged{got.Header.Get("ETag"), o.explains}
	}
	w.saw(m, a, o)
}

// list reads a page of a list.
func (w *soakWorker) list(m *soakMerchant) {
	version, page, size, filter := 1+w.dice.IntN(2), 1+w.dice.IntN(3), []int{10, 20, 50}[w.dice.IntN(3)], ""
	if w.dice.IntN(2) == 0 {
		filter = stateText(operatorMoves[w.dice.IntN(len(operatorMoves))], version)
	}
	w.readList(m, version, page, size, filter)
}

func (w *soakWorker) readList(m *soakMerchant, version, page, size int, filter string) {
	where := fmt.Sprintf("/v2/orders?page=%d&itemsPerPage=%d&state=%s", page, size, filter)
	if version == 1 {
		where = fmt.Sprintf("/api/orders?page=%d&items_per_page=%d&status=%s", page, size, filter)
	}
	w.get(m, where, func(got response) (func(*timeline, int64) bool, error) {
		if got.Status != http.StatusOK {
			return nil, fmt.Errorf("want 200")
		}
		return readList(got.Body, version, filter, page, size)
	})
}

// single reads an order.
func (w *soakWorker) single(m *soakMerchant) { w.readSingle(m, w.some(m), 1+w.dice.IntN(2)) }

// some returns an order of a merchant, every second time one of a few, so that the
// same is read and changed again and again.
func (w *soakWorker) some(m *soakMerchant) sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	among := len(m.orders)
	if w.dice.IntN(2) == 0 {
		among = min(among, 8)
	}
	return m.orders[len(m.orders)-1-w.dice.IntN(among)]
}

// readSingle reads an order and returns the state and the files that it shows.
func (w *soakWorker) readSingle(m *soakMerchant, n sample, version int) (state string, shown []entry) {
	w.get(m, n.Path(version-1), func(got response) (func(*timeline, int64) bool, error) {
		if got.Status == http.StatusNotFound {
			return missing(n), nil
		}
		if got.Status != http.StatusOK {
			return nil, fmt.Errorf("want 200 or 404")
		}
		var explains func(*timeline, int64) bool
		var err error
		explains, state, shown, err = readSingle(got.Body, n, version)
		return explains, err
	})
	return state, shown
}

// otherName matches the name that a file gets if the storage has one of its name, as of an upload
// that a failover has lost.
var otherName = regexp.MustCompile(`^(invoice-\d+-\d+)-\d+(\.pdf)$`)

// download reads a file of an order, if it has any.
func (w *soakWorker) download(m *soakMerchant) {
	n := w.some(m)
	_, files := w.readSingle(m, n, 2)
	if len(files) == 0 {
		return
	}
	e := files[w.dice.IntN(len(files))]
	u, err := url.Parse(e.URL)
	if err != nil {
		w.problem("%s: %v", e.URL, err)
		return
	}
	w.get(m, u.EscapedPath(), func(got response) (func(*timeline, int64) bool, error) {
		has := func(m moment) bool { return slices.Contains(m.files, e.ID) }
		switch {
		case got.Status == http.StatusNotFound:
			return func(l *timeline, seq int64) bool { return !where(n, has)(l, seq) }, nil
		case got.Status != http.StatusOK:
			return nil, fmt.Errorf("want 200 or 404")
		case !bytes.Equal([]byte(got.Body), contentOf(n, otherName.ReplaceAllString(path.Base(u.Path), "$1$2"))):
			return nil, fmt.Errorf("not what was uploaded")
		}
		return where(n, has), nil
	})
}

// events reads a page of the feed from any event on.
func (w *soakWorker) events(m *soakMerchant) {
	after, limit := w.dice.Int64N(2*soakOrders), 1+w.dice.Int64N(100)
	from := fmt.Sprintf("/v2/events?after=%d&limit=%d", after, limit)
	a := w.ask()
	c := w.client(m)
	got, ok := w.send(w.pick(w.dice), http.MethodGet, from, func(base string) (response, error) {
		c.Base = base
		return c.Try(http.MethodGet, from, "")
	})
	if ok {
		w.sawFeed(m, a, got, from, after, limit, false)
	}
}

// sawFeed takes a page of the feed to be checked. It returns the page, and false if the
// response is not a page.
func (s *soak) sawFeed(m *soakMerchant, a asked, got response, from string, after, limit int64, waited bool) (soakPage, bool) {
	var page soakPage
	if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != http.StatusOK || page.History == "" {
		s.problem("GET %s of merchant %d: %d %s, %v", from, m.id, got.Status, got.Body, err)
		return page, false
	}
	o := observed{what: fmt.Sprintf("GET %s: %.2000s", from, got.Body), history: page.History, explains: feedOf(page, after, limit)}
	if waited && len(page.Events) == 0 {
		o.waited = after
	}
	if strings.Contains(from, "after=latest") {
		o.explains = feedEnd(page)
	}
	s.counts.events.Add(int64(len(page.Events)))
	s.fed(m, page)
	s.saw(m, a, o)
	return page, true
}
