package instances

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// writesOfOrder are the writes that each order gets: a decision, two uploads and
// the deletion of the first file.
const writesOfOrder = 4

// TestCutConnections makes writes over connections that are cut at random
// places, and repeats each with the same key, at one instance or the other,
// until a response arrives whole. Every one has to be the response of a success,
// every order is moved once, and every file is there once.
//
// It guards that a response is recorded in the transaction of its change: recorded in one
// of its own, before or after, a cut in between makes it fail.
// Proves decision 8 (simultaneous requests; stored with the change).
func TestCutConnections(t *testing.T) {
	writes := testenv.Count(300, 10_000)
	onEach(t, func(t *testing.T, i installation) {
		orders := sample(writes / writesOfOrder)
		token := i.filled(t, int(orders))
		c := &cutter{t: t}
		for n := range c.whole {
			base := i.process(t, "--log-level", "warn").BaseURL
			c.whole[n] = apptest.NewClient(t, base, token)
			c.cut[n] = cutClient(t, base, token)
		}
		const workers = 8
		var working sync.WaitGroup
		for worker := range sample(workers) {
			working.Go(func() {
				dice := rand.New(rand.NewPCG(23, uint64(worker)))
				for n := 1 + worker; n <= orders && !t.Failed(); n += workers {
					c.work(n, dice)
				}
			})
		}
		working.Wait()
		tables := i.tables(t)
		for what, query := range map[string]string{
			"orders with other events than one move, two uploads and one deletion": `SELECT COUNT(*) FROM (SELECT legacy_id FROM events
				WHERE type > 1 GROUP BY legacy_id, type HAVING COUNT(*) <> CASE type WHEN 4 THEN 2 ELSE 1 END) x`,
			"files too many or too few":  fmt.Sprintf(`SELECT COUNT(*) - %d FROM invoices WHERE status = 2`, orders),
			"events too many or too few": fmt.Sprintf(`SELECT COUNT(*) - %d FROM events WHERE type > 1`, orders*writesOfOrder),
		} {
			if n := number(t, tables, query); n != 0 {
				t.Errorf("%s: %d", what, n)
			}
		}
		t.Logf("%d writes in %d tries: %d cut, %d asked to wait, %d responses given again", int(orders)*writesOfOrder,
			c.tries.Load(), c.cuts.Load(), c.waits.Load(), c.again.Load())
		if c.cuts.Load() < int64(orders) || c.again.Load() == 0 {
			t.Error("too little was cut for this to show anything")
		}
	})
}

// cutClient returns a client whose every connection carries one request and may
// be cut anywhere: as it is sent, before its response, within it.
func cutClient(t *testing.T, base, token string) client {
	w := newWire(t, strings.TrimPrefix(base, "http://"))
	dice := rand.New(rand.NewPCG(29, 0))
	w.cutBy(func() (up, down int64) {
		switch dice.IntN(4) {
		case 0:
			return dice.Int64N(3000), never
		case 1:
			return never, 0
		case 2:
			return never, dice.Int64N(900)
		}
		return never, never
	})
	return apptest.NewClientOver(t, "http://"+w.address(), token, &http.Transport{DisableKeepAlives: true})
}

// cutter makes writes over connections that are cut.
type cutter struct {
	t     *testing.T
	cut   [2]client
	whole [2]client // of the same instances, over connections that are not

	tries, cuts, waits, again atomic.Int64
}

// work makes the writes of one order and sees what has become of it.
func (c *cutter) work(n sample, dice *rand.Rand) {
	d := decisions[dice.IntN(len(decisions))]
	c.write(dice, d.Method, d.Path(n), d.Body)
	var entries [2]entry
	contents := [2]string{fmt.Sprintf("first of %d", n), fmt.Sprintf("second of %d", n) + strings.Repeat("x", dice.IntN(2000))}
	for i, content := range contents {
		got := c.write(dice, http.MethodPost, n.Path(dice.IntN(2))+"/invoices", apptest.UploadBody("a.pdf", []byte(content)))
		var err error
		if entries[i], err = apptest.Uploaded(got); err != nil {
			c.t.Errorf("upload to %s: %v: %s", n.Reference(), err, got.Body)
		}
	}
	c.write(dice, http.MethodDelete, fmt.Sprintf("%s/invoices/%d", n.Path(dice.IntN(2)), entries[0].ID), "")

	now := c.whole[0].Order(c.t, n, 0)
	if now.State != d.Makes.String() {
		c.t.Errorf("order %s is %s, want %s", n.Reference(), now.State, d.Makes)
	}
	if len(now.Files) != 1 || now.Files[0].ID != entries[1].ID {
		c.t.Errorf("order %s shows %+v, want %+v", n.Reference(), now.Files, entries[1])
		return
	}
	testenv.Equal(c.t, "content of "+now.Files[0].URL, contents[1], string(c.whole[1].Download(c.t, now.Files[0])))
}

// write makes one write and returns the first response that arrives whole, which
// must be that of a success.
func (c *cutter) write(dice *rand.Rand, method, path, body string) response {
	key := fmt.Sprintf("%s %s %d", method, path, dice.Uint64())
	for end := time.Now().Add(testenv.WaitTimeout); time.Now().Before(end); {
		c.tries.Add(1)
		got, err := tryUnder(c.cut[dice.IntN(2)], key, method, path, body)
		switch {
		case err != nil:
			c.cuts.Add(1)
		case got.Status == http.StatusConflict:
			c.waits.Add(1)
			time.Sleep(5 * time.Millisecond)
		case got.Status != http.StatusOK:
			c.t.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
			return got
		default:
			if got.Header.Get("Idempotent-Replayed") != "" {
				c.again.Add(1)
			}
			c.wantAgain(key, method, path, body, got)
			return got
		}
	}
	c.t.Errorf("%s %s does not come to an end", method, path)
	return response{}
}

// wantAgain sees that every instance gives a response again.
func (c *cutter) wantAgain(key, method, path, body string, want response) {
	for _, instance := range c.whole {
		got, err := tryUnder(instance, key, method, path, body)
		if err != nil || got.Status != want.Status || got.Body != want.Body ||
			got.Header.Get("ETag") != want.Header.Get("ETag") || got.Header.Get("Idempotent-Replayed") != "true" {
			c.t.Errorf("%s %s again: %v, %+v; the response was %+v", method, path, err, got, want)
		}
	}
}

// tryUnder is try with a key.
func tryUnder(c client, key, method, path, body string) (response, error) {
	got, err := c.With("Idempotency-Key", key).Try(method, path, body)
	if err == nil && got.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) {
		err = errors.New("the response is not whole")
	}
	return got, err
}
