package robust

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// maxMemory is what the server may hold at most, in MB, during 32 simultaneous
// uploads of the largest file.
const maxMemory = 256

// TestLargeUploadsAtOnce has 32 clients upload the largest file there may be,
// all in the middle of their bodies at the same time, while others read.
//
// It guards that an upload goes to the disk as it arrives: decoding it in memory
// takes 700 MB and more, and a lock held over an upload would keep the readers
// waiting for ever.
func TestLargeUploadsAtOnce(t *testing.T) {
	t.Parallel()
	const clients, orders = 32, 11
	s := start(t)
	s.Import(t, registered(1, orders))
	content := bytes.Repeat([]byte("0123456789"), order.MaxInvoiceSize/10)
	held := make([]*heldUpload, clients)
	for i := range held {
		held[i] = s.hold(t, sample(1+i/order.MaxInvoices).Path(i), fmt.Sprintf("%02d.pdf", i), content)
	}
	testenv.Eventually(t, "all uploads are under way", func() bool { return len(stagedFiles(t, s.Data)) == clients })
	s.readAll(t, orders)

	var uploads sync.WaitGroup
	var under atomic.Int64
	under.Store(clients)
	for i := range held {
		held[i].release()
		uploads.Go(func() {
			defer under.Add(-1)
			if got, err := held[i].result(); err != nil || got.Status != http.StatusOK {
				t.Errorf("upload %d: %d %s %v", i, got.Status, got.Body, err)
			}
		})
	}
	for under.Load() > 0 {
		s.readAll(t, orders)
	}
	uploads.Wait()
	peak := s.Memory(t, "VmHWM")
	t.Logf("the server has held %d MB", peak)
	if peak > maxMemory {
		t.Errorf("the server has held %d MB, want %d at most", peak, maxMemory)
	}
	for n := sample(1); n <= orders; n++ {
		for _, e := range s.shown(t, n).Files {
			testenv.Equal(t, "content of "+e.URL, content, s.Download(t, e))
		}
	}
}

// readAll reads what others read: a list and an order.
func (r running) readAll(t *testing.T, orders int) {
	t.Helper()
	testenv.Equal(t, "orders", orders, r.List(t, "state=registered").Params.TotalItems)
	r.Order(t, 1, orders)
}
