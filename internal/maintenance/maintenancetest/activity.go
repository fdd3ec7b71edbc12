package maintenancetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// Activity changes an installation in the background while a test does
// something else with it: it imports orders, accepts them, uploads files and
// deletes some of them.
type Activity struct {
	in      *Installation
	stop    context.CancelFunc
	workers sync.WaitGroup
	permits chan struct{} // one for each order that may be imported

	mu     sync.Mutex
	err    error
	orders []string          // references of imported orders
	files  map[string]string // content of uploaded files by path
}

// StartActivity starts an activity that imports nothing before AddOrders. It
// uses the order numbers from first on.
func StartActivity(t *testing.T, in *Installation, first int) *Activity {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := &Activity{in: in, stop: cancel, permits: make(chan struct{}, 1000), files: make(map[string]string)}
	const workers = 3
	for worker := range workers {
		a.workers.Go(func() {
			for n := first + worker; ; n += workers {
				select {
				case <-a.permits:
				case <-ctx.Done():
					return
				}
				if err := a.processOrder(t, n); err != nil {
					a.mu.Lock()
					a.err = errors.Join(a.err, err)
					a.mu.Unlock()
					return
				}
			}
		})
	}
	t.Cleanup(func() { a.Stop(t) })
	return a
}

// processOrder imports and accepts an order and uploads its files.
func (a *Activity) processOrder(t *testing.T, n int) error {
	ctx, merchant := context.WithoutCancel(t.Context()), []int64{Alpha, Beta}[n%2]
	reference := Reference(merchant, n)
	if _, err := a.in.Orders.Import(ctx, order.Command(), []order.Incoming{Incoming(merchant, n)}); err != nil {
		return err
	}
	a.mu.Lock()
	a.orders = append(a.orders, reference)
	a.mu.Unlock()
	id := order.ByReference(reference)
	if _, err := a.in.Orders.Accept(ctx, order.CommandFor(merchant), id, order.Options[order.WriteResult]{}); err != nil {
		return err
	}
	for i := range 3 {
		if err := a.upload(ctx, merchant, id, fmt.Sprintf("%s-%d", reference, i), i == 2); err != nil {
			return err
		}
	}
	return nil
}

// upload stores a file for an order and, on request, deletes it again.
func (a *Activity) upload(ctx context.Context, merchant int64, id order.Identifier, content string, thenDelete bool) error {
	staged, err := a.in.Orders.StageFile(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := staged.Write([]byte(content)); err != nil {
		return err
	}
	result, err := a.in.Orders.Upload(ctx, order.CommandFor(merchant), id, "a.pdf", order.Content{
		Staged: staged, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content)),
	}, order.Options[order.WriteResult]{})
	if err != nil {
		return err
	}
	if thenDelete {
		_, err := a.in.Orders.DeleteInvoice(ctx, order.CommandFor(merchant), id, result.Invoice.ID, order.Options[order.WriteResult]{})
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files[order.InvoicePath(id.Reference, result.Invoice.Name)] = content
	return nil
}

// Acknowledged returns the references of the orders and the content of the
// files, by path, that have been stored so far.
func (a *Activity) Acknowledged() (orders []string, files map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.orders), maps.Clone(a.files)
}

// AddOrders lets 30 more orders be imported and returns once 5 of them are.
// The others follow while the test goes on. Their number is limited, so that
// the result does not depend on which of the two is faster.
func (a *Activity) AddOrders(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	enough := len(a.orders) + 5
	a.mu.Unlock()
	for range 30 {
		a.permits <- struct{}{}
	}
	testenv.Eventually(t, "some orders are imported", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.orders) >= enough || a.err != nil
	})
}

// Stop ends the activity and fails the test if an operation failed.
func (a *Activity) Stop(t *testing.T) {
	t.Helper()
	a.stop()
	a.workers.Wait()
	if a.err != nil {
		t.Errorf("background activity: %v", a.err)
	}
}

// WantAcknowledged fails the test unless the installation holds orders and
// files that Activity.Acknowledged returned.
func (in *Installation) WantAcknowledged(t *testing.T, orders []string, files map[string]string) {
	t.Helper()
	rows := make(map[string]bool)
	for _, row := range in.Dump(t)["order_keys"] {
		rows[row] = true
	}
	for _, reference := range orders {
		var merchant int64
		testenv.Of(fmt.Sscanf(reference, "M%d-", &merchant)).Must(t)
		if !rows[fmt.Sprintf("[%s %d]", reference, merchant)] {
			t.Errorf("order %s was acknowledged but is missing", reference)
		}
	}
	for path, content := range files {
		testenv.Equal(t, path+" holds", content, string(in.Read(t, path)))
	}
}
