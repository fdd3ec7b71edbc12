package main

import (
	"context"
	"fmt"
	"net/http"
)

// measureReads starts a server and sends it reads as fast as possible.
func (i *installation) measureReads(ctx context.Context) error {
	return i.withServer(ctx, func(server *process) error {
		if err := i.measureStart(server); err != nil {
			return err
		}
		for _, r := range readCases {
			if !i.wants(r.name) {
				continue
			}
			if err := i.measureRead(ctx, server, r); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		if err := i.measureReadsDuringWrites(ctx, server); err != nil {
			return err
		}
		memory, err := server.memory("VmRSS")
		i.add("Memory, after the reads", megabytes(memory), "< 128 MB", "VmRSS")
		return err
	})
}

// measureStart measures a server that has just started and handled one request.
func (i *installation) measureStart(server *process) error {
	c, err := dial(server.baseURL, "")
	if err != nil {
		return err
	}
	defer c.close()
	if _, _, err := c.get("/readyz"); err != nil {
		return err
	}
	memory, err := server.memory("VmRSS")
	orders := 0
	for _, m := range i.all() {
		orders += m.count
	}
	i.add("Start", milliseconds(server.startTime), "< 200 ms", fmt.Sprintf("until the port is open, with %s orders", thousands(float64(orders))))
	i.add("Memory, idle", megabytes(memory), "< 40 MB", "VmRSS, right after the start")
	return err
}

// measureRead measures the service in alternation with a bare handler that
// sends the same response, so that other load on the machine affects both.
func (i *installation) measureRead(ctx context.Context, server *process, r readCase) error {
	l, response, body, err := i.prepareRead(server, r)
	if err != nil {
		return err
	}
	if r.conditional && l.etag == "" {
		return fmt.Errorf("%s: the response has no entity tag", r.name)
	}
	bare, err := i.startBareHandler(ctx, response, body)
	if err != nil {
		return err
	}
	var serviceResults, bareResults wrkResults
	for round := 0; round < i.rounds && err == nil; round++ {
		var result wrkResult
		if result, err = i.wrk(ctx, server.baseURL, i.tokens[i.b], l, 2*round); err != nil {
			break
		}
		serviceResults = append(serviceResults, result)
		result, err = i.wrk(ctx, bare.baseURL, i.tokens[i.b], l, 2*round+1)
		bareResults = append(bareResults, result)
	}
	if err != nil {
		_ = bare.stop()
		return err
	}
	service, handler := serviceResults.median(), bareResults.median()
	i.add(r.name, ratio(service.rate/handler.rate), i.target(atLeast(r.target), atLeast(r.target/2)),
		fmt.Sprintf("%s; bare handler %s/s", service, thousands(handler.rate)))
	return bare.stop()
}

// prepareRead returns the request of a case and the response to one like it.
func (i *installation) prepareRead(server *process, r readCase) (load, *http.Response, []byte, error) {
	c, err := dial(server.baseURL, i.tokens[i.b])
	if err != nil {
		return load{}, nil, nil, err
	}
	defer c.close()
	total := 0
	if r.orderPath == "" {
		if total, err = c.total(r.listPath); err != nil {
			return load{}, nil, nil, err
		}
	}
	l := r.load(i.b, total)
	sample := readCase{orderPath: r.orderPath, listPath: r.listPath}.load(i.b, total)
	response, body, err := c.send(http.MethodGet, sample.path, "", nil)
	if err := checkOK(response, body, err, sample.path); err != nil {
		return load{}, nil, nil, err
	}
	if etag := response.Header.Get("ETag"); r.conditional && etag != "" {
		l.etag = etag
		response, body, err = c.send(http.MethodGet, sample.path, "If-None-Match: "+etag+"\r\n", nil)
		if err == nil && response.StatusCode != http.StatusNotModified {
			err = fmt.Errorf("%s: status %d for If-None-Match: %s, want 304", sample.path, response.StatusCode, etag)
		}
	}
	return l, response, body, err
}
