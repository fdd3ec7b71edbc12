package transfer_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/transfer"
	"merchantorders/internal/transfer/transfertest"
)

// life is what goes on in an installation while something else is done with it:
// orders come in, are accepted, and get files, of which some are withdrawn.
type life struct {
	in     *transfertest.Installation
	stop   context.CancelFunc
	ended  sync.WaitGroup
	turns  chan struct{} // one for each order that may come in
	mu     sync.Mutex
	failed error
	// acknowledged files, by path, and the orders that were taken in.
	files  map[string]string
	orders []string
}

// liveOn begins it. The orders from first on are its own.
func liveOn(t *testing.T, in *transfertest.Installation, first int) *life {
	ctx, cancel := context.WithCancel(t.Context())
	l := &life{in: in, stop: cancel, turns: make(chan struct{}, 1000), files: make(map[string]string)}
	for worker := range 3 {
		l.ended.Go(func() {
			for n := first + worker; ; n += 3 {
				select {
				case <-l.turns:
				case <-ctx.Done():
					return
				}
				if err := l.one(t, n); err != nil {
					l.mu.Lock()
					l.failed = errors.Join(l.failed, err)
					l.mu.Unlock()
					return
				}
			}
		})
	}
	t.Cleanup(func() { l.end(t) })
	return l
}

// one takes in an order and does what can be done with it.
func (l *life) one(t *testing.T, n int) error {
	ctx, merchant := context.WithoutCancel(t.Context()), []int64{transfertest.Alpha, transfertest.Beta}[n%2]
	reference := transfertest.Reference(merchant, n)
	if _, err := l.in.Orders.Import(ctx, []order.Incoming{transfertest.Incoming(merchant, n)}); err != nil {
		return err
	}
	l.mu.Lock()
	l.orders = append(l.orders, reference)
	l.mu.Unlock()
	key := order.ByReference(reference)
	if _, err := l.in.Orders.Accept(ctx, merchant, key, order.WriteOptions{}); err != nil {
		return err
	}
	for i := range 3 {
		text := fmt.Sprintf("%s-%d", reference, i)
		draft, err := l.in.Orders.StageFile(ctx)
		if err != nil {
			return err
		}
		_, writeErr := draft.Write([]byte(text))
		done, err := l.in.Orders.Upload(ctx, merchant, key, "a.pdf", order.Content{
			Staged: draft, Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text)),
		}, order.WriteOptions{})
		draft.Abort()
		if err = errors.Join(writeErr, err); err != nil {
			return err
		}
		if i == 2 {
			if _, err := l.in.Orders.DeleteInvoice(ctx, merchant, key, done.Invoice.ID, order.WriteOptions{}); err != nil {
				return err
			}
			continue
		}
		l.mu.Lock()
		l.files[order.InvoicePath(reference, done.Invoice.Name)] = text
		l.mu.Unlock()
	}
	return nil
}

// acknowledged returns what was acknowledged so far.
func (l *life) acknowledged() (orders []string, files map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files = make(map[string]string, len(l.files))
	for path, text := range l.files {
		files[path] = text
	}
	return append(orders, l.orders...), files
}

// The orders that come in while something is done once, the first of them before.
const (
	liveOrders = 45
	liveBefore = 5
)

// goOn lets more orders come in, and waits for the first of them. The others come
// while the test goes on: as fast as they can, but not without end, so that it
// does not matter which of the two is faster.
func (l *life) goOn(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	enough := len(l.orders) + liveBefore
	l.mu.Unlock()
	for range liveOrders {
		l.turns <- struct{}{}
	}
	eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.orders) >= enough || l.failed != nil
	})
}

// end ends it and waits for its end.
func (l *life) end(t *testing.T) {
	t.Helper()
	l.stop()
	l.ended.Wait()
	if l.failed != nil {
		t.Errorf("beside it: %v", l.failed)
	}
}

// wantAcknowledged fails the test unless an installation has all that was
// acknowledged before.
func wantAcknowledged(t *testing.T, in *transfertest.Installation, orders []string, files map[string]string) {
	t.Helper()
	rows := make(map[string]bool)
	for _, row := range in.Dump(t)["order_keys"] {
		rows[row] = true
	}
	for _, reference := range orders {
		var merchant int64
		if _, err := fmt.Sscanf(reference, "M%d-", &merchant); err != nil {
			t.Fatal(err)
		}
		if !rows[fmt.Sprintf("[%s %d]", reference, merchant)] {
			t.Errorf("order %s was acknowledged and is not there", reference)
		}
	}
	for path, text := range files {
		if got := in.Read(t, path); string(got) != text {
			t.Errorf("%s holds %q, want %q", path, got, text)
		}
	}
}

// TestCopyWhileTheSourceLives copies an installation in use several times. Each
// copy fits together by itself and has all that was acknowledged before; the last
// one, after the end, is the same as the source.
func TestCopyWhileTheSourceLives(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][2]transfertest.Kind{
		{{}, {Postgres: true, S3: true}},
		{{Postgres: true, S3: true}, {}},
	} {
		t.Run(kinds[0].String(), func(t *testing.T) {
			t.Parallel()
			source, target := transfertest.New(t, kinds[0]), transfertest.New(t, kinds[1])
			source.Fill(t, 250)
			l := liveOn(t, source, 1000)
			for range 3 {
				l.goOn(t)
				orders, files := l.acknowledged()
				mustCopy(t, place(source), place(target))
				wantAcknowledged(t, target, orders, files)
				wantWhole(t, target)
				wantWhole(t, source)
			}
			l.end(t)
			mustCopy(t, place(source), place(target))
			wantSame(t, source.Dump(t), target)
			wantWhole(t, target)
		})
	}
}

// TestCopyFilesWhileTheSourceLives copies the files alone.
func TestCopyFilesWhileTheSourceLives(t *testing.T) {
	t.Parallel()
	source, target := transfertest.New(t, transfertest.Kind{}), transfertest.New(t, transfertest.Kind{S3: true})
	source.Fill(t, 10)
	l := liveOn(t, source, 1000)
	for range 3 {
		l.goOn(t)
		_, files := l.acknowledged()
		mustCopy(t, place(source), transfer.Place{Files: target.Files})
		wantAcknowledged(t, target, nil, files)
	}
	l.end(t)
	mustCopy(t, place(source), transfer.Place{Files: target.Files})
	want := source.Dump(t)["files"]
	got := target.Dump(t)["files"]
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("files in the target are %d, want %d", len(got), len(want))
	}
}
