package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// measureExport exports the orders of merchants with few and with many orders, and of all
// merchants, in one request each, with accepts beside one of them, and reads those of the
// small one one by one, as a copy without exports does.
func (i *installation) measureExport(ctx context.Context) error {
	const name = "Export, an order"
	if !i.wants(name) {
		return nil
	}
	operator, err := i.run(ctx, "token", "create", "--operator")
	if err != nil {
		return err
	}
	return i.withServer(ctx, func(server *process) error {
		idle, err := server.memory("VmRSS")
		if err != nil {
			return err
		}
		var perOrder [2]time.Duration
		for n, m := range []*merchant{i.a, i.b} {
			for range i.rounds {
				elapsed, err := exportAll(ctx, server.baseURL+"/v2/orders/export", i.tokens[m], m.count)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if each := elapsed / time.Duration(m.count); perOrder[n] == 0 || each < perOrder[n] {
					perOrder[n] = each
				}
			}
		}
		beside, err := i.acceptBeside(server, 2*i.rounds*i.answers, func() error {
			_, err := exportAll(ctx, server.baseURL+"/v2/orders/export", i.tokens[i.b], i.b.count)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		i.addBeside("an export", beside, 0)
		c, err := dial(server.baseURL, i.tokens[i.a])
		if err != nil {
			return err
		}
		defer c.close()
		start := time.Now()
		for n := range i.a.count {
			if _, _, err := c.get("/v2/orders/" + i.a.reference(n)); err != nil {
				return err
			}
		}
		single := time.Since(start) / time.Duration(i.a.count)
		i.add(name+": B/A", ratio(float64(perOrder[1])/float64(perOrder[0])), atMost(1.25),
			fmt.Sprintf("A %s, B %s; read alone %s", perOrder[0], perOrder[1], single))
		orders := 0
		for _, m := range i.all() {
			orders += m.count
		}
		all, err := exportAll(ctx, server.adminURL+"/operator/orders/export", operator, orders)
		if err != nil {
			return fmt.Errorf("export of all merchants: %w", err)
		}
		peak, err := server.memory("VmHWM")
		i.add("Export, peak memory over idle", megabytes(peak-idle), "< 128 MB",
			fmt.Sprintf("all %s orders by the operator in %.1f s", thousands(float64(orders)), all.Seconds()))
		return err
	})
}

// exportAll requests an export of so many orders and returns how long it took.
func exportAll(ctx context.Context, address, token string, orders int) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "identity")
	start := time.Now()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	last := ""
	for lines := bufio.NewReaderSize(response.Body, 64<<10); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		last = line
	}
	elapsed := time.Since(start)
	if want := fmt.Sprintf(`{"summary":{"orders":%d},"complete":true,`, orders); !strings.HasPrefix(last, want) {
		return 0, fmt.Errorf("status %d, the last line is %.300s", response.StatusCode, last)
	}
	return elapsed, nil
}
