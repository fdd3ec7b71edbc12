package powercut

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// importedAtOnce are the orders of an import, answeredAtOnce those of a bulk answer.
const (
	importedAtOnce = 40
	answeredAtOnce = 10
)

// installation is a data folder on a machine, and what is known of it.
type installation struct {
	*machine
	*ledger
	token string

	// Orders that are there for certain, and that nobody has decided or uploaded to.
	undecided, withoutFile chan sample
	next                   sample
	again                  sample // the first of an import that was not acknowledged; 0: none
	backupsMade            int
	starts                 int // cuts while a server started
}

// newInstallation sets a data folder up, without a cut.
func newInstallation(m *machine, l *ledger) *installation {
	const most = 100_000 // orders; more than there ever are
	h := &installation{machine: m, ledger: l, undecided: make(chan sample, most), withoutFile: make(chan sample, most), next: 1}
	if folder, err := m.disk.create(rootID, backupFolder, syscall.S_IFDIR|0o700); err == nil {
		m.disk.sync(m.disk.nodes[rootID])
		m.disk.sync(folder)
	}
	m.powerOn()
	m.mustRun(nil, "merchant", "add", "--id", fmt.Sprint(apptest.MerchantID), "--name", "Store")
	h.token = m.mustRun(nil, "token", "create", "--merchant", fmt.Sprint(apptest.MerchantID))
	h.importOrders(context.Background())
	return h
}

// traffic runs all kinds of traffic until the power is cut, or ctx ends.
func (h *installation) traffic(ctx context.Context, s *service) *sync.WaitGroup {
	var working sync.WaitGroup
	repeat := func(do func(context.Context, *service) bool) {
		working.Go(func() {
			for ctx.Err() == nil && do(ctx, s) {
			}
		})
	}
	for range 2 {
		repeat(h.accept)
		repeat(h.upload)
	}
	repeat(h.answer)
	repeat(func(ctx context.Context, _ *service) bool { return h.importOrders(ctx) })
	repeat(func(ctx context.Context, _ *service) bool { return h.backUp(ctx) })
	return &working
}

// take returns the next sample of a queue; 0: ctx has ended.
func take(ctx context.Context, queue chan sample) sample {
	select {
	case n := <-queue:
		return n
	case <-ctx.Done():
		return 0
	}
}

// succeeded reports whether a request was acknowledged, and an error unless the service stops.
func (h *installation) succeeded(ctx context.Context, what string, got testenv.Response, err error) bool {
	if err == nil && got.Status != http.StatusOK && ctx.Err() == nil {
		h.t.Errorf("%s: %d %s", what, got.Status, got.Body)
	}
	return err == nil && got.Status == http.StatusOK
}

// accept accepts an order.
func (h *installation) accept(ctx context.Context, s *service) bool {
	n := take(ctx, h.undecided)
	if n == 0 {
		return false
	}
	k := h.wants(n, order.InProcessing)
	got, err := s.Try(http.MethodPatch, n.V2()+"/accept", "")
	if !h.succeeded(ctx, "accept "+n.Reference(), got, err) {
		return false
	}
	h.with(func() { k.decided = h.acknowledge(accepts) })
	return true
}

// wants notes a state that is asked for.
func (h *installation) wants(n sample, state order.State) *known {
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	k := h.orders[n.Reference()]
	k.wanted = state
	return k
}

// answer rejects orders with one request. Each line of the response acknowledges one.
func (h *installation) answer(ctx context.Context, s *service) bool {
	var body strings.Builder
	for range answeredAtOnce {
		n := take(ctx, h.undecided)
		if n == 0 {
			return false
		}
		h.wants(n, order.RejectedByMerchant)
		fmt.Fprintf(&body, `{"orderReference":%q,"answer":"reject","reason":"damaged"}`+"\n", n.Reference())
	}
	client := s.With("Content-Type", "application/x-ndjson")
	got, err := client.Try(http.MethodPost, "/v2/orders/answers", body.String())
	for line := range strings.Lines(got.Body) {
		var result struct{ Reference, Status string }
		if json.Unmarshal([]byte(line), &result) != nil {
			break // cut off
		}
		switch {
		case result.Status == string(order.Changed):
			h.with(func() { h.orders[result.Reference].decided = h.acknowledge(answers) })
		case result.Reference != "":
			h.t.Errorf("bulk answer: %s", line)
		}
	}
	return h.succeeded(ctx, "bulk answers", got, err)
}

// upload uploads a file.
func (h *installation) upload(ctx context.Context, s *service) bool {
	n := take(ctx, h.withoutFile)
	if n == 0 {
		return false
	}
	// Up to 60 KB.
	content := bytes.Repeat([]byte(n.Reference()), 10+int(n)*37%4000)
	var k *known
	h.with(func() {
		k = h.orders[n.Reference()]
		k.content = content
	})
	got, file, err := s.Upload(n.Path(int(n)), "invoice.pdf", content)
	if !h.succeeded(ctx, "upload to "+n.Reference(), got, err) {
		return false
	}
	h.with(func() { k.uploaded, k.file, k.fresh = h.acknowledge(uploads), file.ID, true })
	return true
}

// importOrders imports orders by a command beside the server. One that was cut is run again.
func (h *installation) importOrders(ctx context.Context) bool {
	first := h.again
	if first == 0 {
		first = h.next
		h.next += importedAtOnce
		h.again = first
		h.with(func() {
			for n := first; n < h.next; n++ {
				h.orders[n.Reference()] = &known{sample: n}
			}
		})
	}
	got := h.command(apptest.Registered(apptest.MerchantID, first, importedAtOnce), "import", "-")
	if got.code != 0 {
		h.failed(ctx, "import", got)
		return false
	}
	h.again = 0
	h.with(func() {
		number := h.acknowledge(imports)
		for n := first; n < first+importedAtOnce; n++ {
			h.orders[n.Reference()].imported = number
		}
	})
	for n := first; n < first+importedAtOnce; n++ {
		h.undecided <- n
		h.withoutFile <- n
	}
	return true
}

// backupFolder is on the same disk. The operator has made it some time ago.
const backupFolder = "backups"

// forms are those of backups.
var forms = []string{".tar", "", ".tar.gz"}

// backUp makes a backup on the same disk beside the server.
func (h *installation) backUp(ctx context.Context) bool {
	h.backupsMade++
	path := h.path(fmt.Sprintf("%s/b%d%s", backupFolder, h.backupsMade, forms[h.backupsMade%len(forms)]))
	var since int
	h.with(func() { since = h.ledger.now })
	got := h.command(nil, "backup", path)
	if got.code != 0 {
		h.failed(ctx, "backup", got)
		return false
	}
	h.with(func() {
		h.acknowledge(backups)
		h.backup = append(h.backup, madeBackup{path, since})
	})
	return true
}

// failed reports a command that failed, unless it was killed or the service stops.
func (h *installation) failed(ctx context.Context, what string, got result) {
	if got.code != -1 && ctx.Err() == nil {
		h.t.Errorf("%s: %+v", what, got)
	}
}

// untilCut runs traffic until the power is cut after a number of changes on the disk; with
// all, which are counted when there was traffic of each kind. With soft, the service stops
// gracefully before the cut.
func (h *installation) untilCut(s *service, all bool, changes int, soft bool) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen := h.awaitAll()
	working := h.traffic(ctx, s)
	if all {
		h.await("each kind of traffic", seen)
	}
	h.cutAfter(changes, soft)
	h.await("the cut", h.pulled)
	cancel()
	if soft {
		s.stop(h.t)
	}
	h.powerOff()
	working.Wait()
}

// await waits for what the traffic does.
func (h *installation) await(what string, happens <-chan struct{}) {
	h.t.Helper()
	select {
	case <-happens:
	case <-time.After(testenv.WaitTimeout):
		h.t.Errorf("the traffic does not get as far as %s: %v", what, h.counts)
	}
}
