package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"merchantorders/internal/ingest/ingesttest"
)

const (
	// scaleRate is how many requests a second all clients together send.
	scaleRate = 200
	// openDays is how long orders stay registered.
	openDays = 2
)

// scaleCases are the requests that the stores of a marketplace and its operator send
// most. {order} stands for any order, {open} for a registered one that no other
// request has, and {id} for the store of the order.
var scaleCases = []growthCase{
	{name: "v2 list of 10", path: "/v2/orders", who: byMerchant},
	{name: "v2 list of 100 by state", path: "/v2/orders?state=completed&itemsPerPage=100", who: byMerchant},
	{name: "v1 list of 10", path: "/api/orders", who: byMerchant},
	{name: "v2 order", path: "/v2/orders/{order}", who: byMerchant},
	{name: "v2 orders to answer", path: "/v2/orders/unanswered", who: byMerchant},
	{name: "v2 feed", path: "/v2/events", who: byMerchant},
	{name: "v2 accept", method: http.MethodPatch, path: acceptPath, who: byMerchant},
	{name: "operator, orders of a store", path: "/operator/orders?merchantId={id}"},
	{name: "operator, search by reference", path: "/operator/orders?reference={order}"},
	{name: "operator, overview", path: "/operator/overview"},
}

const acceptPath = "/v2/orders/{open}/accept"

// scale is an installation with the orders of many stores.
type scale struct {
	*installation
	storeTokens   []string // by number of the store
	operatorToken string
	imported      int          // orders
	accepted      atomic.Int64 // of the registered orders
}

// measureScale imports the orders of many stores, and measures the same requests
// with a tenth of the orders and with all of them.
func (i *installation) measureScale(ctx context.Context) error {
	s := &scale{installation: i}
	if err := s.addStores(ctx); err != nil {
		return err
	}
	var rates [2]float64
	var times [2][]time.Duration // medians and 99th percentiles of each case
	for n, orders := range []int{i.large / 10, i.large} {
		start, before := time.Now(), s.imported
		if err := s.importUpTo(ctx, orders); err != nil {
			return err
		}
		rates[n] = perSecond(orders-before, time.Since(start))
		start = time.Now()
		if err := i.analyze(ctx); err != nil {
			return err
		}
		vacuum := time.Since(start)
		size, details, err := i.size(ctx)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("Scale, %s orders", thousands(float64(orders)))
		i.add(name+": import", thousands(rates[n])+" orders/s", "", fmt.Sprintf("orders of %d stores", i.stores))
		i.add(name+": size", megabytes(size/1e6), "", fmt.Sprintf("%.2f KB an order; vacuum and analyze %.0f s; %s", size/1e3/float64(orders), vacuum.Seconds(), details))
		err = i.withServer(ctx, func(server *process) error {
			var err error
			times[n], err = s.requests(ctx, server, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	for n, c := range scaleCases {
		few, many := times[0][2*n:2*n+2], times[1][2*n:2*n+2]
		i.add("Scale, "+c.name+": 99th percentile", milliseconds(many[1]), "",
			fmt.Sprintf("p50 %s; a tenth of the orders: p99 %s, p50 %s", milliseconds(many[0]), milliseconds(few[1]), milliseconds(few[0])))
	}
	start := time.Now()
	result, err := i.run(ctx, "check")
	i.add("Scale, check", fmt.Sprintf("%.0f s", time.Since(start).Seconds()), "", result)
	return err
}

// addStores adds the stores and creates a token for each and one of the operator.
func (s *scale) addStores(ctx context.Context) error {
	var merchants, tokens bytes.Buffer
	for n := range s.stores {
		fmt.Fprintf(&merchants, `{"id":%d,"name":"Store %d"}`+"\n", storeID(n), n)
		fmt.Fprintf(&tokens, `{"merchantId":%d,"label":"connector"}`+"\n", storeID(n))
	}
	if _, err := s.runWith(ctx, &merchants, "merchant", "add", "-"); err != nil {
		return err
	}
	created, err := s.runWith(ctx, &tokens, "token", "create", "-")
	if err != nil {
		return err
	}
	for line := range strings.Lines(created) {
		var result struct{ Token string }
		if err := json.Unmarshal([]byte(line), &result); err != nil {
			return fmt.Errorf("token create: %w", err)
		}
		s.storeTokens = append(s.storeTokens, result.Token)
	}
	s.operatorToken, err = s.run(ctx, "token", "create", "--operator")
	return err
}

func storeID(store int) int64 { return int64(1001 + store) }

// storeOf returns the store of an order, which its number decides. The orders of a
// store are inversely proportional to the square root of its number: of 2,000 stores
// the first has 2 % of all orders and the last 0.03 %.
func (o options) storeOf(number int) int {
	u := rand.New(rand.NewPCG(uint64(number), 1)).Float64()
	return int(float64(o.stores) * u * u)
}

// open returns how many of the newest orders are registered.
func (o options) open() int { return max(100, o.large*openDays/(3*365)) }

// importUpTo imports the orders up to a number, each after the older ones.
func (s *scale) importUpTo(ctx context.Context, last int) error {
	reader, writer := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(writer, 1<<20)
		var err error
		for number := s.imported + 1; number <= last && err == nil; number++ {
			_, err = buffered.Write(append(s.scaleDocument(number, last), '\n'))
		}
		writer.CloseWithError(errors.Join(err, buffered.Flush()))
	}()
	counts, err := s.runWith(ctx, reader, "import", "-")
	_ = reader.Close()
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("created %d, unchanged 0, deleted 0, conflicting 0, invalid 0", last-s.imported); counts != want {
		return fmt.Errorf("import: %s, want %s", counts, want)
	}
	s.imported = last
	s.accepted.Store(0)
	return nil
}

// scaleDocument returns the order with a number. The newest of those up to last are
// registered.
func (o options) scaleDocument(number, last int) []byte {
	state := ingesttest.State(number)
	switch {
	case number > last-o.open():
		state = "registered"
	case state == "registered":
		state = "completed"
	}
	age := time.Duration(int64(o.large-number)*threeYears/int64(o.large)) * time.Second
	return orderDocument(number, storeID(o.storeOf(number)), state, newest.Add(-age))
}

// requests sends each request as often as the options say, and returns the median and
// the 99th percentile of each case. Then it sends them again as fast as it can.
func (s *scale) requests(ctx context.Context, server *process, name string) ([]time.Duration, error) {
	load := loadAverage()
	if _, err := s.sendAll(ctx, server, scaleRate); err != nil { // fills the caches
		return nil, err
	}
	times, err := s.sendAll(ctx, server, scaleRate)
	if err != nil {
		return nil, err
	}
	result := make([]time.Duration, 0, 2*len(scaleCases))
	for _, each := range times {
		p50 := median(each)
		result = append(result, p50, each[(len(each)-1)*99/100])
	}
	busyBefore, err := server.processorTime()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if _, err := s.sendAll(ctx, server, 0); err != nil {
		return nil, err
	}
	elapsed := time.Since(start)
	busy, err := server.processorTime()
	if err != nil {
		return nil, err
	}
	memory, err := server.memory("VmHWM")
	if err != nil {
		return nil, err
	}
	sent := s.scaleRequests() * len(scaleCases)
	s.add(name+": requests", thousands(perSecond(sent, elapsed))+"/s", "",
		fmt.Sprintf("as many as %d clients can send; the service takes %.1f cores; load average %s before", s.clients, (busy-busyBefore).Seconds()/elapsed.Seconds(), load))
	s.add(name+": memory", megabytes(memory), "", "peak of the service")
	return result, nil
}

// scaleRequests returns how often each case is sent in one round. Three rounds accept
// no more orders than are registered.
func (o options) scaleRequests() int { return min(o.requests, o.open()/3) }

// sendAll sends the requests of all cases in turn, and returns the times of each case.
// rate is the number of requests a second, 0 for as many as possible.
func (s *scale) sendAll(ctx context.Context, server *process, rate int) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(scaleCases))
	var mu sync.Mutex
	tick := make(chan struct{})
	tickContext, stop := context.WithCancel(ctx)
	defer stop()
	if rate == 0 {
		close(tick)
	} else {
		go func() {
			ticker := time.NewTicker(time.Second / time.Duration(rate))
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					tick <- struct{}{}
				case <-tickContext.Done():
					close(tick)
					return
				}
			}
		}()
	}
	operators := make(chan *connection, s.clients)
	for range s.clients {
		c, err := dial(server.adminURL, "")
		if err != nil {
			return nil, err
		}
		defer c.close()
		operators <- c
	}
	err := concurrently(server.baseURL, "", s.clients, s.scaleRequests()*len(scaleCases), func(c *connection, n int) error {
		<-tick
		if err := ctx.Err(); err != nil {
			return err
		}
		n %= len(scaleCases)
		if scaleCases[n].who == byOperator {
			c = <-operators
			defer func() { operators <- c }()
		}
		elapsed, err := s.sendOne(c, scaleCases[n])
		mu.Lock()
		defer mu.Unlock()
		times[n] = append(times[n], elapsed)
		return err
	})
	return times, err
}

// sendOne sends a request about a random order.
func (s *scale) sendOne(c *connection, g growthCase) (time.Duration, error) {
	number := 1 + rand.IntN(s.imported)
	if g.path == acceptPath {
		number = s.imported - s.open() + int(s.accepted.Add(1))
	}
	store := s.storeOf(number)
	reference := ingesttest.Reference(number)
	c.token = s.operatorToken
	if g.who == byMerchant {
		c.token = s.storeTokens[store]
	}
	about := &subject{names: strings.NewReplacer("{order}", reference, "{open}", reference, "{id}", strconv.FormatInt(storeID(store), 10))}
	return about.send(c, g)
}

// size returns the size of the database in bytes, and of what is largest in it.
func (i *installation) size(ctx context.Context) (bytes float64, details string, err error) {
	if i.postgresURL == "" {
		err = filepath.WalkDir(i.dataDir, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				bytes += float64(info.Size())
			}
			return err
		})
		return bytes, "the data folder", err
	}
	connection, err := pgx.Connect(ctx, i.postgresURL)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = connection.Close(ctx) }()
	err = connection.QueryRow(ctx, `SELECT pg_database_size(current_database()), string_agg(text, ', ')
		FROM (SELECT relname || ' ' || pg_relation_size(oid) / 1000000 || ' MB' AS text FROM pg_class
			WHERE relkind IN ('r', 'i', 't') ORDER BY pg_relation_size(oid) DESC LIMIT 8) AS largest`).Scan(&bytes, &details)
	return bytes, details, err
}
