package instances

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

const (
	// greedyOrders is how many orders each of the merchants has.
	greedyOrders = 300
	// maxGreedyMemory is what an instance may hold at most, in MB.
	maxGreedyMemory = 256
	// maxSlowdown is by how much another merchant's requests may take longer at most.
	maxSlowdown = 5
)

// greedy is a merchant that does its worst to the instances of an installation.
type greedy struct {
	bases     []string
	tokens    []string
	sessions  []string // cookies, as people have them who signed in with a token or a link
	links     []string // paths, to files of 2 MB
	lines     []byte   // compressed: blank ones
	junk      []byte   // compressed: those of one byte
	http      http.Client
	done, cut atomic.Int64 // requests that ended with a response, and without one
}

// attacks are the ways. Each of the clients does it again and again, as the n-th of them.
var attacks = []struct {
	name    string
	clients int
	do      func(g *greedy, ctx context.Context, n int)
}{
	{"answers of junk that nobody reads", 24, func(g *greedy, ctx context.Context, n int) {
		g.pour(ctx, n, g.head(n, "POST /v2/orders/answers")+"Transfer-Encoding: chunked\r\n", "1000\r\n"+strings.Repeat("x\n", 0x800)+"\r\n", 0)
	}},
	{"compressed blank lines", 8, func(g *greedy, ctx context.Context, n int) {
		g.send(ctx, n, http.MethodPost, "/v2/orders/answers", bytes.NewReader(g.lines), "Content-Encoding", "gzip")
	}},
	{"compressed junk", 8, func(g *greedy, ctx context.Context, n int) {
		g.send(ctx, n, http.MethodPost, "/v2/orders/answers", bytes.NewReader(g.junk), "Content-Encoding", "gzip")
	}},
	{"slow uploads with tokens", 300, func(g *greedy, ctx context.Context, n int) {
		g.pour(ctx, n, g.head(n, "POST "+sample(1+n%greedyOrders).V2()+"/invoices")+"Content-Length: 5000000\r\n", " ", time.Second)
	}},
	{"slow uploads with sessions", 300, func(g *greedy, ctx context.Context, n int) {
		path := "/console/orders/" + sample(1+n%greedyOrders).Reference() + "/files"
		g.pour(ctx, n, g.page(n, "POST "+path)+"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000000\r\n", "-", time.Second)
	}},
	{"slow forms without a token, after a request with one", 100, func(g *greedy, ctx context.Context, n int) {
		first := g.head(n, "GET /v2/tokens") + "\r\n"
		g.pour(ctx, n, first+"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n", "x", time.Second)
	}},
	{"long polls", 300, func(g *greedy, ctx context.Context, n int) {
		g.send(ctx, n, http.MethodGet, "/v2/events?wait=30&after="+strconv.Itoa(greedyOrders), nil)
	}},
	{"exports that nobody reads", 16, func(g *greedy, ctx context.Context, n int) {
		g.pour(ctx, n, g.head(n, "GET /v2/orders/export?include=customers"), "", time.Second)
	}},
	{"exports of the console", 8, func(g *greedy, ctx context.Context, n int) {
		g.see(ctx, n, []string{"/console/orders.xlsx", "/console/orders.ndjson"}[n%2])
	}},
	{"sign-ins", 8, func(g *greedy, ctx context.Context, n int) {
		form := url.Values{"token": {g.tokens[n%len(g.tokens)]}}.Encode()
		g.send(ctx, n, http.MethodPost, "/", strings.NewReader(form), "Authorization", "", "Content-Type", "application/x-www-form-urlencoded")
	}},
	{"names of files", 8, func(g *greedy, ctx context.Context, n int) {
		g.see(ctx, n, "/console/invoices?"+strings.Repeat("file="+strings.Repeat("a+1+", 40)+".pdf&", 20))
	}},
	{"searches in the console", 8, func(g *greedy, ctx context.Context, n int) { g.see(ctx, n, "/console/orders?q=a+"+strconv.Itoa(n)) }},
	{"downloads by links that nobody reads", 100, func(g *greedy, ctx context.Context, n int) {
		g.pour(ctx, n, "GET "+g.links[n%len(g.links)]+" HTTP/1.1\r\nHost: localhost\r\n", "", time.Second)
	}},
	{"login links", 4, func(g *greedy, ctx context.Context, n int) {
		g.send(ctx, n, http.MethodPost, "/v2/login-link", strings.NewReader(`{"name":"Νίκος"}`))
	}},
	{"lists with all tokens", 64, func(g *greedy, ctx context.Context, n int) {
		g.send(ctx, n, http.MethodGet, "/v2/orders?itemsPerPage=100&page="+strconv.Itoa(1+n%3), nil)
	}},
	{"changes with all tokens", 16, func(g *greedy, ctx context.Context, n int) {
		note := strings.NewReader(fmt.Sprintf(`{"merchantNote":"%d"}`, time.Now().UnixNano()))
		g.send(ctx, n, http.MethodPatch, sample(1+n%greedyOrders).V2(), note)
	}},
}

// head returns the first fields of a request with a token.
func (g *greedy) head(n int, what string) string {
	return what + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + g.tokens[n%len(g.tokens)] + "\r\n"
}

// page returns the first fields of a request with a session.
func (g *greedy) page(n int, what string) string {
	return what + " HTTP/1.1\r\nHost: localhost\r\nCookie: " + g.sessions[n%len(g.sessions)] + "\r\n"
}

// pour sends the fields of a request and then a text over and over, with a pause after each,
// and reads nothing.
func (g *greedy) pour(ctx context.Context, n int, fields, text string, pause time.Duration) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.bases[n%len(g.bases)], "http://"))
	if err != nil {
		return
	}
	defer g.cut.Add(1)
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err = io.WriteString(conn, fields+"\r\n")
	for ended := time.After(20 * time.Second); err == nil; {
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-ended:
				return
			case <-ctx.Done():
				return
			}
		}
		if text != "" {
			_, err = io.WriteString(conn, text)
		}
	}
}

// see is send with a session, for a page.
func (g *greedy) see(ctx context.Context, n int, path string) {
	g.send(ctx, n, http.MethodGet, path, nil, "Authorization", "", "Cookie", g.sessions[n%len(g.sessions)])
}

// send sends a request with a token and reads the response. header is names and values.
func (g *greedy) send(ctx context.Context, n int, method, path string, body io.Reader, header ...string) {
	r, err := http.NewRequestWithContext(ctx, method, g.bases[n%len(g.bases)]+path, body)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+g.tokens[n%len(g.tokens)])
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := g.http.Do(r)
	if err != nil {
		g.cut.Add(1)
		return
	}
	defer response.Body.Close()
	g.done.Add(1)
	_, _ = io.Copy(io.Discard, response.Body)
}

// begin starts all attacks, which end with ctx.
func (g *greedy) begin(ctx context.Context, all *sync.WaitGroup) {
	for _, attack := range attacks {
		for n := range attack.clients {
			all.Go(func() {
				for ctx.Err() == nil {
					attack.do(g, ctx, n)
				}
			})
		}
	}
}

// newGreedy returns the greedy merchant, with everything that it can have many of.
func newGreedy(t *testing.T, i installation, bases []string) *greedy {
	t.Helper()
	g := &greedy{bases: bases, lines: compressed(t, "\n"), junk: compressed(t, "x\n")}
	g.http = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(g.http.CloseIdleConnections)
	first := client{Base: bases[0], Token: i.filled(t, greedyOrders), HTTP: &g.http}
	g.tokens = []string{first.Token}
	scopes := "orders:read,orders:write,invoices:write,tokens"
	owner := client{Base: bases[0], Token: i.run(t, "", "token", "create", "--merchant", strconv.Itoa(merchantID), "--scopes", scopes)}
	for range 20 {
		var made struct{ Text string }
		testenv.Send(t, owner.Token, http.MethodPost, owner.Base+"/v2/tokens", `{}`).Decode(t, &made)
		g.tokens = append(g.tokens, made.Text)
	}
	session := func(r response) {
		r.WantStatus(t, http.StatusSeeOther)
		cookie, _, _ := strings.Cut(r.Header.Get("Set-Cookie"), ";")
		g.sessions = append(g.sessions, cookie)
	}
	for range 20 {
		var link struct{ URL string }
		testenv.Send(t, owner.Token, http.MethodPost, owner.Base+"/v2/login-link", `{"name":"Νίκος"}`).Decode(t, &link)
		path := regexp.MustCompile(`/console/login/.*`).FindString(link.URL)
		session(testenv.Send(t, "", http.MethodPost, owner.Base+path, ""))
	}
	for n := range 5 {
		got, file, err := first.Upload(sample(1+n).V2(), "large.pdf", bytes.Repeat([]byte("0123456789"), 200_000))
		testenv.NoError(t, err)
		got.WantStatus(t, http.StatusOK)
		var link struct{ URL string }
		testenv.Send(t, first.Token, http.MethodPost, fmt.Sprintf("%s%s/invoices/%d/link", first.Base, sample(1+n).V2(), file.ID), "").Decode(t, &link)
		g.links = append(g.links, regexp.MustCompile(`/files/.*`).FindString(link.URL))
	}
	return g
}

// compressed returns 64 MB of a line, compressed.
func compressed(t *testing.T, line string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	block := bytes.Repeat([]byte(line), 1<<20/len(line))
	for range 64 {
		testenv.Of(w.Write(block)).Must(t)
	}
	testenv.NoError(t, w.Close())
	return out.Bytes()
}

// work is what another merchant does: it reads a list and an order, and changes the order,
// one after the other, at each instance. It returns the times that its requests took, sorted.
func work(t *testing.T, bases []string, token string, rounds int) (took []time.Duration) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	refused := 0
	for n := range rounds {
		o := sample(greedyOrders + 1 + n%greedyOrders)
		for _, request := range [][3]string{
			{http.MethodGet, fmt.Sprintf("/v2/orders?itemsPerPage=20&page=%d", 1+n%10)},
			{http.MethodGet, o.V2()},
			{http.MethodPatch, o.V2(), fmt.Sprintf(`{"merchantNote":"%d"}`, n)},
		} {
			r := testenv.NewRequest(t, token, request[0], bases[n%len(bases)]+request[1], strings.NewReader(request[2]))
			r.Close = n%10 == 0 // the next one over a new connection
			begun := time.Now()
			response, err := transport.RoundTrip(r)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
			took = append(took, time.Since(begun))
			if err != nil || response.StatusCode != http.StatusOK {
				t.Logf("%s %s after %s: %v, %v", request[0], request[1], time.Since(begun), response, err)
				refused++
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	if refused > 0 {
		t.Errorf("%d requests of another merchant were refused", refused)
	}
	slices.Sort(took)
	return took
}

// keepBusy runs a program that does nothing useful on each processor, until idle.
func keepBusy(t *testing.T) (idle func()) {
	t.Helper()
	ctx, idle := context.WithCancel(t.Context())
	for range runtime.NumCPU() {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		testenv.NoError(t, loop.Start())
		t.Cleanup(func() { idle(); _ = loop.Wait() })
	}
	return idle
}

// percentile returns the p-th percentile of sorted times.
func percentile(took []time.Duration, p int) time.Duration { return took[(len(took)-1)*p/100] }

// TestGreedyMerchant has a merchant do its worst to two instances on PostgreSQL, and to one
// on SQLite, in every way at once, while another merchant works.
//
// It guards that the other merchant is never refused, that the instances hold little memory,
// and that the other merchant waits not much longer than beside programs that take as much
// processor time: the greedy one runs on the same machine.
func TestGreedyMerchant(t *testing.T) {
	testenv.Release(t)
	for name, on := range map[string]func() (i installation, instances int){
		"sqlite":   func() (installation, int) { return onSQLite(t), 1 },
		"postgres": func() (installation, int) { return onPostgres(t, pgtest.Database(t)), 2 },
	} {
		t.Run(name, func(t *testing.T) {
			i, instances := on()
			var processes []*apptest.Process
			var bases []string
			for range instances {
				p := i.process(t, "--rate-limit=100", "--max-connections=1000", "--log-level=error")
				processes, bases = append(processes, p), append(bases, p.BaseURL)
			}
			g := newGreedy(t, i, bases)
			other := i.merchant(t, 400)
			i.run(t, string(apptest.Registered(400, greedyOrders+1, greedyOrders)), "import", "-")
			const rounds = 300
			quiet := work(t, bases, other, rounds)
			idle := keepBusy(t)
			busy := work(t, bases, other, rounds)
			idle()
			ctx, end := context.WithCancel(t.Context())
			var all sync.WaitGroup
			defer all.Wait()
			defer end()
			g.begin(ctx, &all)
			time.Sleep(2 * time.Second) // until what is slow has begun
			loud := work(t, bases, other, rounds)
			end()
			all.Wait()
			t.Logf("quiet: p50 %s, p99 %s; on a busy machine: p50 %s, p99 %s; then: p50 %s, p99 %s; of the greedy one %d requests had a response, %d had none",
				percentile(quiet, 50), percentile(quiet, 99), percentile(busy, 50), percentile(busy, 99), percentile(loud, 50), percentile(loud, 99), g.done.Load(), g.cut.Load())
			if limit := maxSlowdown * percentile(busy, 99); percentile(loud, 99) > limit {
				t.Errorf("p99 is %s, want %s at most", percentile(loud, 99), limit)
			}
			for _, p := range processes {
				held := p.Memory(t, "VmHWM")
				t.Logf("an instance has held %d MB", held)
				if held > maxGreedyMemory {
					t.Errorf("an instance has held %d MB, want %d at most", held, maxGreedyMemory)
				}
			}
		})
	}
}
