package instances

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// crowd is the clients that go on working while a server behind the instances
// fails, and what they know: what was acknowledged, and what failed when.
type crowd struct {
	t         *testing.T
	instances [2]client
	stop      chan struct{}
	stopOnce  sync.Once
	wait      sync.WaitGroup

	mu      sync.Mutex
	states  map[sample]decided
	files   map[sample]entry // that were acknowledged
	done    map[string]int   // requests that succeeded, by kind
	failed  map[string]int   // requests that met the fault, by kind
	longest time.Duration    // that a request took
}

// decided is what a client wanted an order to be, and whether it was acknowledged that
// it is.
type decided struct {
	state order.State
	sure  bool
}

// The orders of a crowd: the first ones are accepted or rejected, the others get
// a file each. At the pace of a crowd they last for longer than an outage does.
const (
	crowdDecides = 700
	crowdUploads = 300
	crowdOrders  = crowdDecides + crowdUploads
	crowdPause   = 100 * time.Millisecond // of each client, between its requests
)

// kinds are the requests that a crowd makes, of each instance.
var kinds = []string{"decide", "upload", "order v1", "order v2", "list v1", "list v2"}

// newCrowd returns a crowd that ends with the test, before the instances do.
func newCrowd(t *testing.T, instances [2]client) *crowd {
	c := &crowd{
		t: t, instances: instances, stop: make(chan struct{}),
		states: make(map[sample]decided), files: make(map[sample]entry),
		done: make(map[string]int), failed: make(map[string]int),
	}
	t.Cleanup(c.end)
	return c
}

// begin sends the crowd off.
func (c *crowd) begin() {
	for who := range 4 {
		// Each has orders of its own, and goes on to the next when it knows what
		// became of one.
		c.each(1+sample(who), 4, crowdDecides, func(n sample) bool { return c.decide(who, n) })
	}
	for who := range 2 {
		c.each(crowdDecides+1+sample(who), 2, crowdOrders, func(n sample) bool { return c.upload(who, n) })
		looks := 0
		c.each(1, 1, 1, func(sample) bool {
			looks++
			n := sample(1 + looks%50)
			c.look(who, "order v1", n.V1())
			c.look(who, "order v2", n.V2())
			c.look(who, "list v1", "/api/orders?items_per_page=20")
			c.look(who, "list v2", "/v2/orders?state=registered&page=2")
			return false
		})
	}
}

// each has one client do something with one order after the other, again until
// it is done, until the crowd is to end.
func (c *crowd) each(first, step, last sample, do func(n sample) (done bool)) {
	c.wait.Go(func() {
		for n := first; n <= last; {
			select {
			case <-c.stop:
				return
			case <-time.After(crowdPause):
			}
			if do(n) {
				n += step
			}
		}
	})
}

// end has the crowd stop, and waits until it has.
func (c *crowd) end() {
	c.stopOnce.Do(func() { close(c.stop) })
	c.wait.Wait()
}

// ask asks an instance for something. Where that meets the fault, in a form
// that it may have, it returns false.
func (c *crowd) ask(who int, kind string, send func(client) (response, error)) (response, bool) {
	begun := time.Now()
	got, err := send(c.instances[who%2])
	took := time.Since(begun)
	key := fmt.Sprintf("%s of instance %d", kind, who%2)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = max(c.longest, took)
	switch {
	case err != nil:
		c.t.Errorf("%s: %v", key, err)
	case got.Status < http.StatusInternalServerError:
		c.done[key]++
		return got, true
	default:
		if problem := faultForm(kind, got); problem != "" {
			c.t.Errorf("%s: %s: %d %v %s", key, problem, got.Status, got.Header, got.Body)
		}
		c.failed[key]++
	}
	return got, false
}

// The bodies of a response which says that the service is unavailable.
var (
	flatUnavailable  = regexp.MustCompile(`^\{"message":"Service Unavailable"\}\n?$`)
	codedUnavailable = regexp.MustCompile(`^\{"error":\{"code":"unavailable","message":"[^"]+"\}\}\n?$`)
	flatUploadFailed = regexp.MustCompile(`^\{"message":"There were errors during the upload\."\}\n?$`)
)

// faultForm says what is wrong with the form of a response that met a fault.
func faultForm(kind string, got response) string {
	if kind == "upload" && got.Status == http.StatusInternalServerError {
		if !flatUploadFailed.MatchString(got.Body) {
			return "not the published text"
		}
		return ""
	}
	switch {
	case got.Status != http.StatusServiceUnavailable:
		return "not 503"
	case !regexp.MustCompile(`^[1-9][0-9]*$`).MatchString(got.Header.Get("Retry-After")):
		return "no Retry-After"
	case !flatUnavailable.MatchString(got.Body) && !codedUnavailable.MatchString(got.Body):
		return "not the text of either version"
	case kind == "order v1" || kind == "list v1":
		if !flatUnavailable.MatchString(got.Body) {
			return "not the form of version 1"
		}
	case kind == "order v2" || kind == "list v2":
		if !codedUnavailable.MatchString(got.Body) {
			return "not the form of version 2"
		}
	}
	return ""
}

// decide accepts or rejects an order that nobody else does. Refused after an
// response that did not say so: it was done then.
func (c *crowd) decide(who int, n sample) bool {
	d := decisions[int(n)/2%len(decisions)]
	c.mu.Lock()
	_, again := c.states[n]
	c.mu.Unlock()
	c.note(n, decided{state: d.Makes})
	got, ok := c.ask(who, "decide", func(one client) (response, error) { return one.Try(d.Method, d.Path(n), d.Body) })
	if !ok {
		return false
	}
	if got.Status != http.StatusOK && (!again || apptest.Message(got) != d.Refusal) {
		c.t.Errorf("%s %s: %d %s", d.Method, d.Path(n), got.Status, got.Body)
	}
	c.note(n, decided{state: d.Makes, sure: true})
	return true
}

func (c *crowd) note(n sample, d decided) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states[n] = d
}

// upload uploads a file to an order that nobody else uploads to.
func (c *crowd) upload(who int, n sample) bool {
	var stored entry
	got, ok := c.ask(who, "upload", func(one client) (response, error) {
		got, e, err := one.Upload(n.Path(int(n)/2), "invoice.pdf", fileOf(n))
		stored = e
		return got, err
	})
	if !ok {
		return false
	}
	if got.Status != http.StatusOK {
		c.t.Errorf("upload to %s: %d %s", n.V2(), got.Status, got.Body)
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[n] = stored
	return true
}

// fileOf is what is uploaded to an order.
func fileOf(n sample) []byte { return bytes.Repeat(fmt.Appendf(nil, "file of order %d. ", n), 300) }

// look reads something.
func (c *crowd) look(who int, kind, path string) {
	got, ok := c.ask(who, kind, func(one client) (response, error) { return one.Try(http.MethodGet, path, "") })
	if ok && got.Status != http.StatusOK {
		c.t.Errorf("GET %s: %d %s", path, got.Status, got.Body)
	}
}

// everyKind reports whether more requests than before of every kind are in a
// count, of both instances.
func (c *crowd) everyKind(count, before map[string]int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range kinds {
		for who := range 2 {
			if key := fmt.Sprintf("%s of instance %d", kind, who); count[key] <= before[key] {
				return false
			}
		}
	}
	return true
}

// check compares what the crowd knows with what the instances show.
func (c *crowd) check() {
	c.t.Helper()
	walked := c.instances[0].Walk(c.t)
	for n, d := range c.states {
		got := walked[n.Reference()]
		if got != d.state.String() && (d.sure || got != order.Registered.String()) {
			c.t.Errorf("order %s is %q; a client made it %s, acknowledged: %v", n.Reference(), got, d.state, d.sure)
		}
	}
	for n, stored := range c.files {
		shown := c.instances[1].Order(c.t, n, int(n)).Files
		if !slices.ContainsFunc(shown, func(e entry) bool { return e.ID == stored.ID }) {
			c.t.Errorf("order %s shows %v, %v was acknowledged", n.Reference(), shown, stored)
		}
		// Of those too that were stored with no acknowledgement.
		for _, e := range shown {
			testenv.Equal(c.t, "content of "+e.URL, fileOf(n), c.instances[1].Download(c.t, e))
		}
	}
	if len(c.states) == 0 || len(c.files) == 0 {
		c.t.Error("nothing was done")
	}
}
