package powercut

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
)

type sample = apptest.Sample

// The kinds of traffic.
const (
	accepts = "accepts"
	uploads = "uploads"
	imports = "imports"
	answers = "bulk answers"
	backups = "backups"
)

var kinds = []string{accepts, uploads, imports, answers, backups}

// ledger is what was asked for and acknowledged.
type ledger struct {
	mu     sync.Mutex
	now    int // acknowledgments so far; each has its number, from 1
	orders map[string]*known
	counts map[string]int  // acknowledgments by kind
	seen   map[string]bool // kinds since awaitAll
	all    chan struct{}   // closed when all were seen
	backup []madeBackup    // since the last cut
}

// known is an order. The acknowledgments are 0 until there is one.
type known struct {
	sample
	imported int
	wanted   order.State // the one that was asked for, once it was
	decided  int
	content  []byte // of the file that was sent, once it was
	uploaded int
	file     int64 // its id, once it was seen
	fresh    bool  // the file was not read again
}

// madeBackup is a backup that was acknowledged.
type madeBackup struct {
	path  string
	since int // what was acknowledged before it began
}

func newLedger() *ledger {
	return &ledger{orders: make(map[string]*known), counts: make(map[string]int)}
}

// with runs fn while nobody else uses the ledger.
func (l *ledger) with(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
}

// acknowledge counts an acknowledgment and returns its number.
func (l *ledger) acknowledge(kind string) int {
	l.counts[kind]++
	if !l.seen[kind] && l.all != nil {
		if l.seen[kind] = true; len(l.seen) == len(kinds) {
			close(l.all)
		}
	}
	l.now++
	return l.now
}

// awaitAll returns a channel that is closed when one of each kind was acknowledged.
func (l *ledger) awaitAll() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.all = make(map[string]bool), make(chan struct{})
	return l.all
}

// shownOrder is an order as an export shows it.
type shownOrder struct {
	ID       string
	State    string
	Invoices []apptest.File
}

// export reads all orders by their references.
func export(c apptest.Client) (map[string]shownOrder, error) {
	got, err := c.Try(http.MethodGet, "/v2/orders/export", "")
	if err != nil || got.Status != http.StatusOK || !strings.Contains(got.Body, `"complete":true`) {
		return nil, fmt.Errorf("export: %d %.500s, %w", got.Status, got.Body, err)
	}
	orders := make(map[string]shownOrder)
	for line := range strings.Lines(got.Body) {
		var o shownOrder
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			return nil, fmt.Errorf("export: %w: %s", err, line)
		}
		if o.ID != "" { // else the summary
			orders[o.ID] = o
		}
	}
	return orders, nil
}

// compare returns what a server does not show though it was acknowledged, up to an
// acknowledgment, and what it shows though it was not asked for.
func (l *ledger) compare(shown map[string]shownOrder, upTo int) (lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged := func(number int) bool { return 0 < number && number <= upTo }
	for reference, k := range l.orders {
		got, there := shown[reference]
		switch {
		case !there && acknowledged(k.imported):
			lost = append(lost, fmt.Sprintf("order %s is not there", reference))
		case !there:
		case acknowledged(k.decided) && got.State != k.wanted.String(), got.State != order.Registered.String() && (k.wanted == 0 || got.State != k.wanted.String()):
			lost = append(lost, fmt.Sprintf("order %s is %s, want %s, acknowledged: %v", reference, got.State, k.wanted, acknowledged(k.decided)))
		}
		if there {
			lost = append(lost, k.compareFiles(got.Invoices, acknowledged(k.uploaded))...)
		}
	}
	for reference := range shown {
		if l.orders[reference] == nil {
			lost = append(lost, fmt.Sprintf("order %s was never imported", reference))
		}
	}
	slices.Sort(lost)
	return lost
}

// compareFiles is compare for the files of an order.
func (k *known) compareFiles(shown []apptest.File, acknowledged bool) []string {
	switch {
	case len(shown) == 0 && !acknowledged:
	case len(shown) == 1 && k.content != nil && (k.file == 0 || shown[0].ID == k.file):
	default:
		return []string{fmt.Sprintf("order %s shows the files %v, want %d, acknowledged: %v", k.Reference(), shown, k.file, acknowledged)}
	}
	return nil
}

// pin takes what a server shows as acknowledged: it is on the disk, and no later cut may
// take it.
func (l *ledger) pin(shown map[string]shownOrder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now++
	for reference, k := range l.orders {
		got, there := shown[reference]
		if !there {
			continue // the import runs again
		}
		if k.imported == 0 {
			k.imported = l.now
		}
		if k.decided == 0 && k.wanted != 0 && got.State == k.wanted.String() {
			k.decided = l.now
		}
		if k.uploaded == 0 && len(got.Invoices) == 1 {
			k.uploaded, k.file, k.fresh = l.now, got.Invoices[0].ID, true
		}
	}
}

// download compares the content of files: all, or those that were not read yet.
func (l *ledger) download(c apptest.Client, shown map[string]shownOrder, all bool) (lost []string) {
	for reference, o := range shown {
		var content []byte
		l.with(func() {
			if k := l.orders[reference]; k != nil && (all || k.fresh) {
				content, k.fresh = k.content, false
			}
		})
		for _, file := range o.Invoices {
			if content == nil {
				continue
			}
			address, err := url.Parse(file.URL)
			if err != nil {
				lost = append(lost, err.Error())
				continue
			}
			_, below, _ := strings.Cut(address.EscapedPath(), "/storage/")
			got, err := c.Try(http.MethodGet, path.Join("/storage", below), "")
			if err != nil || got.Status != http.StatusOK || !bytes.Equal([]byte(got.Body), content) {
				lost = append(lost, fmt.Sprintf("the file of order %s does not hold what was sent: %d, %d bytes, error %v", reference, got.Status, len(got.Body), err))
			}
		}
	}
	return lost
}
