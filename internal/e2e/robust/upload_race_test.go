package robust

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

const tooManyFiles = "You cannot upload more than 3 files."

// TestThreeUploadsStay has 24 clients upload to one order at once, in both
// versions, each its own bytes under the same name.
//
// It guards the limit, which all of them reach at the same time, and that no
// upload writes over another: without the limit all stay, with the names as they
// came only one.
func TestThreeUploadsStay(t *testing.T) {
	t.Parallel()
	const clients, orders = 24, 3
	s := start(t)
	s.Import(t, registered(1, orders)...)
	for n := sample(1); n <= orders; n++ {
		won := s.raceToUpload(t, n, clients)
		s.checkUploads(t, n, won)
		s.checkLastReservation(t, n, won)
	}
	if left := stagedFiles(t, s.Data); len(left) > 0 {
		t.Errorf("files on their way are left: %v", left)
	}
}

// contentOf is what one of the clients uploads: all of different lengths.
func contentOf(n sample, client int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "order %d, client %02d. ", n, client), 5000+100*client)
}

// upload is an upload that succeeded.
type upload struct {
	entry   entry
	content []byte
}

// raceToUpload has clients upload to an order at once and returns the uploads
// that succeeded.
func (r running) raceToUpload(t *testing.T, n sample, clients int) []upload {
	t.Helper()
	responses, entries := make([]response, clients), make([]entry, clients)
	testenv.Together(clients, func(i int, ready func()) {
		r.ask(t, http.MethodGet, "/healthz", "") // opens the connection
		content := contentOf(n, i)
		ready()
		var err error
		if responses[i], entries[i], err = r.upload(n.path(i), "invoice.pdf", content); err != nil {
			t.Errorf("upload %d: %v", i, err)
		}
	})
	var won []upload
	for i, got := range responses {
		switch {
		case got.status == http.StatusOK:
			won = append(won, upload{entries[i], contentOf(n, i)})
		case got.status != http.StatusBadRequest || got.message() != tooManyFiles:
			t.Errorf("order %d, upload %d: %d %s, want 400 %s", n, i, got.status, got.body, tooManyFiles)
		}
	}
	if len(won) != 3 {
		t.Fatalf("order %d: %d uploads succeeded, want 3", n, len(won))
	}
	return won
}

// checkUploads looks at what the order shows and what is stored.
func (r running) checkUploads(t *testing.T, n sample, won []upload) {
	t.Helper()
	var ids []int64
	var fileNames []string
	for _, u := range won {
		ids, fileNames = append(ids, u.entry.ID), append(fileNames, u.entry.name(t))
		if !bytes.Equal(r.download(t, u.entry), u.content) {
			t.Errorf("order %d: %s does not hold the bytes that were sent", n, u.entry.URL)
		}
	}
	slices.Sort(ids)
	slices.Sort(fileNames)
	if len(slices.Compact(slices.Clone(ids))) != 3 {
		t.Errorf("order %d: ids %v are not distinct", n, ids)
	}
	want := []string{"invoice-1.pdf", "invoice-2.pdf", "invoice.pdf"}
	if diff := cmp.Diff(want, fileNames); diff != "" {
		t.Errorf("order %d: stored names (-want +got):\n%s", n, diff)
	}
	if diff := cmp.Diff(want, stored(t, r.Data, n)); diff != "" {
		t.Errorf("order %d: files on disk (-want +got):\n%s", n, diff)
	}
	var shown []int64
	for _, e := range r.invoices(t, n) {
		shown = append(shown, e.ID)
	}
	if diff := cmp.Diff(ids, shown); diff != "" {
		t.Errorf("order %d: ids in the order (-want +got):\n%s", n, diff)
	}
}

// checkLastReservation sees that the refused uploads occupy no reservation.
func (r running) checkLastReservation(t *testing.T, n sample, won []upload) {
	t.Helper()
	got := r.ask(t, http.MethodDelete, fmt.Sprintf("%s/invoices/%d", n.v2(), won[0].entry.ID), "")
	if got.status != http.StatusOK {
		t.Errorf("order %d: delete: %d %s", n, got.status, got.body)
	}
	got, e, err := r.upload(n.v1(), "invoice.pdf", []byte("one more"))
	if err != nil || got.status != http.StatusOK || e.name(t) != "invoice-3.pdf" {
		t.Errorf("order %d: upload after a delete: %d %s %v, want invoice-3.pdf", n, got.status, got.body, err)
	}
}
