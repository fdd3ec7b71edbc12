package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// waitingClients and waitingMerchants are the connections that wait for events
	// and the merchants that they belong to.
	waitingClients   = 5000
	waitingMerchants = 250
	// waitingTime is how long their cost is measured. Each client asks again once.
	waitingTime = 30 * time.Second
	// cachedOrders are more than the response cache holds.
	cachedOrders = 20_000
)

// measureWaiting measures the processor time of a server with full caches while
// clients wait for events that do not come.
func (i *installation) measureWaiting(ctx context.Context) error {
	row := thousands(waitingClients) + " waiting clients, full caches: processor time"
	if !i.wants(row) {
		return nil
	}
	return i.withServer(ctx, func(server *process) error {
		if err := i.fillCaches(server); err != nil {
			return err
		}
		tokens, err := i.newMerchants(ctx, server, waitingMerchants)
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		var waiters sync.WaitGroup
		defer waiters.Wait()
		defer stop()
		failed := make(chan error, waitingClients)
		for n := range waitingClients {
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.baseURL, "http://"))
			if err != nil {
				return err
			}
			waiters.Go(func() { failed <- wait(ctx, conn, tokens[n%waitingMerchants]) })
		}
		start, before := time.Now(), time.Duration(0)
		if before, err = server.processorTime(); err != nil {
			return err
		}
		select {
		case err := <-failed:
			return fmt.Errorf("a waiting client: %w", err)
		case <-time.After(waitingTime):
		}
		used, err := server.processorTime()
		if err != nil {
			return err
		}
		memory, err := server.memory("VmRSS")
		share := float64(used-before) / float64(time.Since(start))
		i.add(row, fmt.Sprintf("%.1f %%", 100*share), "< 15 %", "of one processor; "+megabytes(memory))
		return err
	})
}

// fillCaches requests orders and lists twice, which admits them to the response
// cache.
func (i *installation) fillCaches(server *process) error {
	c, err := dial(server.baseURL, i.tokens[i.b])
	if err != nil {
		return err
	}
	defer c.close()
	for n := range min(cachedOrders, i.b.count) {
		for range 2 {
			if _, _, err := c.get("/v2/orders/" + i.b.reference(n)); err != nil {
				return err
			}
		}
	}
	for page := range 100 {
		if _, _, err := c.get(fmt.Sprintf("/v2/orders?itemsPerPage=100&page=%d", page+1)); err != nil {
			return err
		}
	}
	return nil
}

// newMerchants adds merchants without orders and returns a token of each.
func (i *installation) newMerchants(ctx context.Context, server *process, count int) ([]string, error) {
	operator, err := i.run(ctx, "token", "create", "--operator")
	if err != nil {
		return nil, err
	}
	c, err := dial(server.adminURL, operator)
	if err != nil {
		return nil, err
	}
	defer c.close()
	tokens := make([]string, count)
	for n := range tokens {
		id := 100_000 + n
		response, body, err := c.send(http.MethodPost, "/operator/merchants", "", fmt.Appendf(nil, `{"id":%d,"name":"Waiting %d"}`, id, n))
		if err := checkOK(response, body, err, "merchants"); err != nil {
			return nil, err
		}
		response, body, err = c.send(http.MethodPost, "/operator/tokens", "", fmt.Appendf(nil, `{"merchantId":%d}`, id))
		if err != nil || response.StatusCode != http.StatusCreated {
			return nil, fmt.Errorf("tokens: %s: %w", body, err)
		}
		var created struct{ Text string }
		if err := json.Unmarshal(body, &created); err != nil {
			return nil, err
		}
		tokens[n] = created.Text
	}
	return tokens, nil
}

// wait waits for events again and again until ctx ends.
func wait(ctx context.Context, conn net.Conn, token string) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in := bufio.NewReaderSize(conn, 2<<10)
	for {
		_, err := io.WriteString(conn, "GET /v2/events?wait=25 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "+token+"\r\n\r\n")
		if err != nil {
			return err
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		if err := checkOK(response, body, err, "/v2/events"); err != nil {
			return err
		}
	}
}
