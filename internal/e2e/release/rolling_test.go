package release

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"

	"merchantorders/internal/testenv"
)

const (
	// drainTime is how long an instance is not ready before it closes its port. It is
	// far longer than the balancer takes to notice.
	drainTime = 10 * time.Second
	// pause is the time between two health checks of the balancer, and between two
	// requests of a client.
	pause   = 100 * time.Millisecond
	clients = 4
)

// TestRollingUpgrade replaces two instances of the old version on PostgreSQL by the
// new version, one after the other, while clients read and change orders, and then
// goes back in the same way: the steps of the new version only add. No request fails.
func TestRollingUpgrade(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	old, next := release(t, oldVersion, ""), release(t, newVersion, "")
	data := filepath.Join(t.TempDir(), "data")
	folder := apptest.Folder{Data: data, Settings: []string{"--database", pgtest.Database(t), "--storage", "file://" + data + "/files"}}
	token := folder.Merchant(t, apptest.MerchantID)
	start := func(program string) *apptest.Process {
		return apptest.StartProgram(t, program, data, append(folder.Settings, "--drain", drainTime.String())...)
	}
	balancer := &balancer{token: token, instances: []*apptest.Process{start(old), start(old)}}
	balancer.check()

	var load sync.WaitGroup
	stop := make(chan struct{})
	load.Go(func() { balancer.checkUntil(stop) })
	for number := range clients {
		folder.Import(t, documents(number)...)
		load.Go(func() { balancer.client(t, number, stop) })
	}
	for _, program := range []string{next, old} {
		for at := range balancer.instances {
			balancer.waitForRequests(t)
			replaced := balancer.instances[at]
			testenv.Equal(t, fmt.Sprintf("instance %d: exit code", at), 0, replaced.Stop(t, syscall.SIGTERM))
			if log := replaced.Log(); at == 0 && program == old && !strings.Contains(log, `"msg":"schema migrated"`) {
				t.Errorf("the new version has not migrated the schema:\n%s", log)
			}
			balancer.put(at, start(program))
		}
	}
	balancer.waitForRequests(t)
	close(stop)
	load.Wait()
	t.Logf("%d requests", balancer.done.Load())
}

// ordersOfClient is how many orders a client can accept.
const ordersOfClient = 500

// reference returns the reference of an order of a client.
func reference(client, order int) string { return fmt.Sprintf("ROLLING-%d-%d", client, order) }

func documents(client int) [][]byte {
	documents := make([][]byte, ordersOfClient)
	for i := range documents {
		documents[i] = ingesttest.Document(1+client*ordersOfClient+i, func(document map[string]any) {
			document["merchantId"], document["state"] = apptest.MerchantID, "registered"
			document["reference"] = reference(client, i)
		})
	}
	return documents
}

// balancer sends each request to an instance that was ready at its last health
// check, as load balancers do.
type balancer struct {
	token string
	turn  atomic.Int64
	done  atomic.Int64 // requests

	mu        sync.Mutex
	instances []*apptest.Process
	ready     []string // addresses
}

func (b *balancer) put(at int, instance *apptest.Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.instances[at] = instance
}

// check asks every instance whether it is ready.
func (b *balancer) check() {
	b.mu.Lock()
	instances := slices.Clone(b.instances)
	b.mu.Unlock()
	var ready []string
	for _, instance := range instances {
		response, err := http.Get(instance.BaseURL + "/readyz")
		if err != nil {
			continue // it has stopped
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			ready = append(ready, instance.BaseURL)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = ready
}

func (b *balancer) checkUntil(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(pause):
			b.check()
		}
	}
}

// choose returns the address of an instance that is ready; empty if none is.
func (b *balancer) choose() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return ""
	}
	return b.ready[int(b.turn.Add(1))%len(b.ready)]
}

// client sends requests until stop is closed: it accepts an order, reads it, and
// reads the list. The test fails if one of them fails.
func (b *balancer) client(t *testing.T, number int, stop <-chan struct{}) {
	for order := 0; order < ordersOfClient; order++ {
		path := "/v2/orders/" + reference(number, order)
		b.send(t, http.MethodPatch, path+"/accept", reference(number, order))
		b.send(t, http.MethodGet, path, "")
		b.send(t, http.MethodGet, "/v2/orders?state=registered", "")
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
	<-stop
}

func (b *balancer) send(t *testing.T, method, path, key string) {
	address := b.choose()
	if address == "" {
		t.Errorf("%s %s: no instance is ready", method, path)
		return
	}
	c := apptest.Client{Base: address, Token: b.token, HTTP: http.DefaultClient}
	if key != "" {
		c = c.With("Idempotency-Key", key)
	}
	if got, err := c.Try(method, path, ""); err != nil || got.Status != http.StatusOK {
		t.Errorf("%s %s: %d %s %v", method, path, got.Status, got.Body, err)
	}
	b.done.Add(1)
}

// waitForRequests waits until some more requests were sent to the instances that
// run now.
func (b *balancer) waitForRequests(t *testing.T) {
	t.Helper()
	wanted := b.done.Load() + 10*clients
	testenv.Eventually(t, "more requests", func() bool { return b.done.Load() >= wanted })
}
