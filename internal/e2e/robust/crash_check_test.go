package robust

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// checkFolders sees that a server that was just started after a crash has left
// nothing of the uploads that were under way.
func (r running) checkFolders(t *testing.T) {
	t.Helper()
	if left := stagedFiles(t, r.Data); len(left) > 0 {
		t.Errorf("%d files on their way are left", len(left))
	}
}

// checkLedger compares what the clients know with what a server shows. states
// are those of all orders, from a walk through the pages.
func (r running) checkLedger(t *testing.T, l *ledger, states map[string]string) {
	t.Helper()
	if diff := cmp.Diff(counted(states), r.Totals(t)); diff != "" {
		t.Errorf("orders by state (-counted on the pages +totals of the lists):\n%s", diff)
	}
	for n, note := range l.states {
		got := states[n.Reference()]
		if got != note.state && (note.sure || got != order.Registered.String()) {
			t.Errorf("order %s is %q; a client made it %s, acknowledged: %v", n.Reference(), got, note.state, note.sure)
		}
	}
	for _, n := range l.imported {
		if states[n.Reference()] == "" {
			t.Errorf("order %s was taken in and is not there", n.Reference())
		}
	}
	for n := range l.files {
		r.checkFiles(t, l, n)
	}
}

// checkFiles compares what the clients know of the files of one order with what
// it shows and what is stored.
func (r running) checkFiles(t *testing.T, l *ledger, n sample) {
	t.Helper()
	shown := r.shown(t, n).Files
	if len(shown) > order.MaxInvoices {
		t.Errorf("order %s has %d files", n.Reference(), len(shown))
	}
	seen := make(map[[32]byte]entry)
	var known []string // names that may lie on the disk
	for _, e := range shown {
		digest := sha256.Sum256(r.Download(t, e))
		if _, twice := seen[digest]; twice {
			t.Errorf("order %s shows the same upload twice", n.Reference())
		}
		seen[digest] = e
		known = append(known, nameOf(t, e))
		if note := l.files[n][digest]; note == nil {
			t.Errorf("%s holds what nobody has sent", e.URL)
		}
	}
	for digest, note := range l.files[n] {
		e, there := seen[digest]
		if note.leaving {
			known = append(known, nameOf(t, note.entry)) // there until purged
		}
		switch {
		case note.gone && there:
			t.Errorf("%s was deleted and is there again", e.URL)
		case note.stored && !note.leaving && (!there || e.ID != note.entry.ID):
			t.Errorf("%s was stored as %d, and now there is %v", note.entry.URL, note.entry.ID, e)
		}
	}
	for _, name := range stored(t, r.Data, n) {
		if !slices.Contains(known, name) {
			t.Errorf("the file %s of order %s belongs to no entry", name, n.Reference())
		}
	}
}

// fillUp sees that interrupted uploads leave no reservation: each order takes
// as many files as its entries leave room for, and then no more. They are
// deleted again.
func (r running) fillUp(t *testing.T, l *ledger) {
	t.Helper()
	for n := range l.files {
		free := order.MaxInvoices - len(r.shown(t, n).Files)
		for i := range order.MaxInvoices + 1 {
			content := bytes.Repeat([]byte{byte(i)}, 100+i)
			got, e, err := r.Upload(n.Path(i), "again.pdf", content)
			if want := i < free; err != nil || (got.Status == http.StatusOK) != want {
				t.Errorf("order %s, %d files less than the maximum: upload %d: %d %s %v", n.Reference(), free, i+1, got.Status, got.Body, err)
				return
			}
			if got.Status != http.StatusOK {
				break
			}
			note := l.sends(n, content)
			note.entry, note.stored, note.leaving, note.gone = e, true, true, true
			path := fmt.Sprintf("%s/invoices/%d", n.V2(), e.ID)
			defer func() {
				if got := r.Ask(t, http.MethodDelete, path, ""); got.Status != http.StatusOK {
					t.Errorf("DELETE %s: %d %s", path, got.Status, got.Body)
				}
			}()
		}
	}
}
