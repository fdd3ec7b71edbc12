package bench

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

func number(n int) string { return strconv.Itoa(n) }

// measureReads starts a server on all orders and asks it as fast as it goes.
func (i *installation) measureReads(ctx context.Context) error {
	return i.with(ctx, func(server *process) error {
		if err := i.measureIdle(server); err != nil {
			return err
		}
		for _, r := range readings {
			if !i.wants(r.what) {
				continue
			}
			if err := i.measureReading(ctx, server, r); err != nil {
				return fmt.Errorf("%s: %w", r.what, err)
			}
		}
		if err := i.measureBeside(ctx, server); err != nil {
			return err
		}
		held, err := server.memory("VmRSS")
		i.add("Memory, after all this", megabytes(held), "< 128 MB", "VmRSS")
		return err
	})
}

// measureIdle measures a server that was just started and has been asked once.
func (i *installation) measureIdle(server *process) error {
	c, err := dial(server.base, "")
	if err != nil {
		return err
	}
	defer c.close()
	if _, _, err := c.get("/readyz"); err != nil {
		return err
	}
	held, err := server.memory("VmRSS")
	orders := 0
	for _, m := range i.all() {
		orders += m.count
	}
	i.add("Start", milliseconds(server.took), "< 200 ms", fmt.Sprintf("until the port is open, with %s orders", thousands(float64(orders))))
	i.add("Memory, idle", megabytes(held), "< 40 MB", "VmRSS, right after the start")
	return err
}

// measureReading asks the service and a bare handler of the same answer by
// turns, so that whatever else goes on meets both.
func (i *installation) measureReading(ctx context.Context, server *process, r reading) error {
	l, answer, body, err := i.prepare(server, r)
	if err != nil {
		return err
	}
	if r.tagged && l.tag == "" {
		return nil // the service has no entity tags
	}
	ceiling, err := i.startCeiling(ctx, answer, body)
	if err != nil {
		return err
	}
	var of, most paces
	for round := 0; round < i.Rounds && err == nil; round++ {
		var p pace
		if p, err = i.wrk(ctx, server.base, i.tokens[i.b], l, 2*round); err != nil {
			break
		}
		of = append(of, p)
		p, err = i.wrk(ctx, ceiling.base, i.tokens[i.b], l, 2*round+1)
		most = append(most, p)
	}
	if err != nil {
		_ = ceiling.stop()
		return err
	}
	service, handler := of.median(), most.median()
	i.add(r.what, ratio(service.rate/handler.rate), i.asked(atLeast(r.asked), atLeast(r.asked/2)),
		fmt.Sprintf("%s; bare handler %s/s", service, thousands(handler.rate)))
	return ceiling.stop()
}

// prepare returns what to ask for, and the answer to it.
func (i *installation) prepare(server *process, r reading) (load, *http.Response, []byte, error) {
	c, err := dial(server.base, i.tokens[i.b])
	if err != nil {
		return load{}, nil, nil, err
	}
	defer c.close()
	total := 0
	if r.order == "" {
		if total, err = c.total(r.list); err != nil {
			return load{}, nil, nil, err
		}
	}
	l := r.load(i.b, total)
	one := reading{order: r.order, list: r.list}.load(i.b, total) // of many, one that they are like
	answer, body, err := c.send(http.MethodGet, one.path, "", nil)
	if err := succeeded(answer, body, err, one.path); err != nil {
		return load{}, nil, nil, err
	}
	if tag := answer.Header.Get("ETag"); r.tagged && tag != "" {
		l.tag = tag
		answer, body, err = c.send(http.MethodGet, one.path, "If-None-Match: "+tag+"\r\n", nil)
		if err == nil && answer.StatusCode != http.StatusNotModified {
			err = fmt.Errorf("%d for the tag that it gave", answer.StatusCode)
		}
	}
	return l, answer, body, err
}
