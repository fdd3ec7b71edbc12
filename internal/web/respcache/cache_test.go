package respcache

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var (
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	today = order.DayOf(noon)
	key   = Key{Route: "/orders", MerchantID: 1, Path: "/orders"}
	v1    = order.DataVersion{Event: 1, Nonce: 7}
)

func newCache(maxBytes int) *Cache { return New(maxBytes, func() time.Time { return noon }) }

func entry(version order.DataVersion, day order.Day, body string) *Entry {
	e := &Entry{Version: version, Day: day, ETag: []string{`"1"`}}
	if body != "" {
		e.Body = []byte(body)
	}
	return e
}

// storeTwice stores an entry so that it is admitted.
func (c *Cache) storeTwice(key Key, e *Entry) {
	c.Store(key, e)
	c.Store(key, e)
}

// TestHeadersCount checks that the headers of an entry count as its body does.
func TestHeadersCount(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for name, e := range map[string]*Entry{
		"body": {Version: v1, ETag: []string{`"1"`}, Body: []byte(long)},
		"link": {Version: v1, ETag: []string{`"1"`}, Link: []string{long[:500], long[500:]}},
		"tag":  {Version: v1, ETag: []string{long}},
	} {
		c := newCache(entryOverhead + len(key.Path) + 1000 - 1)
		c.storeTwice(key, e)
		testenv.Equal(t, name+": an entry larger than the cache", nil, c.Lookup(key, v1))
	}
}

func TestLookupValidates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		stored  *Entry
		version order.DataVersion
		key     Key
		want    bool
	}{
		{"same version", entry(v1, order.NoDay, "x"), v1, key, true},
		{"same version and day", entry(v1, today, "x"), v1, key, true},
		{"later event", entry(v1, order.NoDay, "x"), order.DataVersion{Event: 2, Nonce: 8}, key, false},
		{"earlier event", entry(v1, order.NoDay, "x"), order.DataVersion{}, key, false},
		{"same event of another history", entry(v1, order.NoDay, "x"), order.DataVersion{Event: 1, Nonce: 8}, key, false},
		{"yesterday's", entry(v1, today-1, "x"), v1, key, false},
		{"another merchant", entry(v1, order.NoDay, "x"), v1, Key{Route: key.Route, MerchantID: 2, Path: key.Path}, false},
		{"another query", entry(v1, order.NoDay, "x"), v1, Key{Route: key.Route, MerchantID: 1, Path: key.Path, Query: "page=2"}, false},
	} {
		c := newCache(1 << 20)
		c.storeTwice(key, test.stored)
		testenv.Equal(t, test.name+": found", test.want, c.Lookup(test.key, test.version) != nil)
	}
}

// TestEntryStays checks that neither a 304, which has no body, nor a response that is larger
// than the cache takes an entry away.
func TestEntryStays(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	c.storeTwice(key, entry(v1, order.NoDay, "x"))
	c.Store(key, entry(v1, order.NoDay, ""))
	c.storeTwice(Key{Path: "/large"}, &Entry{Version: v1, Day: order.NoDay, Body: make([]byte, 2<<20)})
	if found := c.Lookup(key, v1); found == nil || found.Body == nil {
		t.Errorf("found %+v", found)
	}
}

// TestCoalesceLeaderFails checks that each waiter computes the response itself if
// the leader fails.
func TestCoalesceLeaderFails(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	fault := errors.New("the leader's client disconnected")
	begun, fail := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := c.Coalesce(key, v1, func() (*Entry, error) {
			close(begun)
			<-fail
			return nil, fault
		})
		testenv.Equal(t, "leader", fault, err)
	})
	<-begun
	for i := range 5 {
		all.Go(func() {
			body := fmt.Sprint(i)
			e, err := c.Coalesce(key, v1, func() (*Entry, error) { return entry(v1, order.NoDay, body), nil })
			if err != nil || e.Body == nil {
				t.Errorf("waiter: %+v, error %v", e, err)
			}
		})
	}
	close(fail)
	all.Wait()
}

func TestFlightsOfDifferentKeys(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, k := range []Key{
		{MerchantID: 1, Path: "/a"}, {MerchantID: 11, Path: "/a"}, {MerchantID: 1, Path: "/a b"}, {MerchantID: 1, Path: "/a", Query: " b"},
		{MerchantID: 1, Path: "/a b", Query: "c"}, {MerchantID: 1, Path: "/a", Query: " bc"},
	} {
		name := k.flight(v1)
		if seen[name] || seen[k.flight(order.DataVersion{Event: 1, Nonce: 8})] {
			t.Errorf("%+v shares the name %q", k, name)
		}
		seen[name] = true
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	c.Lookup(key, v1)
	stored := entry(v1, order.NoDay, "body")
	c.storeTwice(key, stored)
	c.Lookup(key, v1)
	c.Lookup(key, v1)
	c.Lookup(key, order.DataVersion{Event: 2})
	// A computation looks once more, which is not a request.
	testenv.Of(c.Coalesce(key, v1, func() (*Entry, error) { return nil, errors.New("not reached") })).Must(t)
	testenv.Equal(t, "uses", Uses{Hits: 2, Misses: 2, Bytes: entryOverhead + len(key.Path) + len(`"1"`) + cap(stored.Body)}, c.Uses())
}

// TestWeight fills caches and compares their weight with the memory that they take. It runs
// alone.
func TestWeight(t *testing.T) {
	for _, size := range []int{0, 1, 1300, 9000} { // of the body
		const maxBytes = 8 << 20
		c := newCache(maxBytes)
		heap := func() int {
			runtime.GC()
			runtime.GC() // frees what the first one has finalized
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int(stats.HeapAlloc)
		}
		before := heap()
		for n := 0; c.Uses().Bytes < maxBytes*9/10; n++ {
			// As a request has them: the path is a part of its first line.
			line := fmt.Sprintf("GET /v2/orders/SF-2026-%07d HTTP/1.1", n)
			e := &Entry{Version: v1, ETag: []string{fmt.Sprintf(`"%032d"`, n)}, Link: []string{strings.Clone(line)}, Length: []string{fmt.Sprint(n)}}
			e.Body = bytes.Clone(make([]byte, size))
			c.storeTwice(Key{Route: "/v2/orders/{reference}", MerchantID: 1, Path: line[4 : len(line)-9]}, e)
		}
		used := heap() - before
		if weight := c.Uses().Bytes; used > weight || used < weight*3/4 {
			t.Errorf("bodies of %d bytes: the cache takes %d bytes and weighs %d", size, used, weight)
		}
		runtime.KeepAlive(c)
	}
}
