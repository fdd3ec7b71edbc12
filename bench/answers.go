package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Accepts of single orders beside a long request.
const (
	besideClients = 4
	besidePause   = 20 * time.Millisecond // of each client between two accepts
)

// measureAnswers measures how long many accepts in one request take until all are
// durable, and single accepts of the same merchant meanwhile.
func (i *installation) measureAnswers(ctx context.Context) error {
	name := fmt.Sprintf("Answers, %s in one request", thousands(float64(i.answers)))
	if !i.wants(name) {
		return nil
	}
	return i.withServer(ctx, func(server *process) error {
		load := loadAverage()
		var times, beside []time.Duration
		for round := range i.rounds {
			elapsed, latencies, err := i.answer(server, 2*round*i.answers)
			if err != nil {
				return err
			}
			times, beside = append(times, elapsed), append(beside, latencies...)
		}
		i.add(name, fmt.Sprintf("%.2f s", median(times).Seconds()), i.target("≤ 2 s", ""), "with accepts beside them; load average "+load+" before")
		i.addBeside("answers", beside)
		return nil
	})
}

// answer accepts orders of merchant E in one request, from its order first on, and as
// many more at most one by one. It returns the time of the request and those of the
// other accepts.
func (i *installation) answer(server *process, first int) (time.Duration, []time.Duration, error) {
	var body bytes.Buffer
	for n := range i.answers {
		fmt.Fprintf(&body, `{"orderReference":%q,"answer":"accept"}`+"\n", i.e.reference(first+n))
	}
	c, err := dial(server.baseURL, i.tokens[i.e])
	if err != nil {
		return 0, nil, err
	}
	defer c.close()
	var elapsed time.Duration
	latencies, err := i.acceptBeside(server, first+i.answers, func() error {
		start := time.Now()
		response, results, err := c.send(http.MethodPost, "/v2/orders/answers", "Content-Type: application/x-ndjson\r\n", body.Bytes())
		elapsed = time.Since(start)
		err = checkOK(response, results, err, "answers")
		if err == nil && bytes.Count(results, []byte(`"status":"changed"`)) != i.answers {
			err = fmt.Errorf("answers: not all of %d are changed", i.answers)
		}
		return err
	})
	return elapsed, latencies, err
}

// acceptBeside accepts orders of merchant E one by one while fn runs, from its order first
// on and at most as many as a request has answers. It returns how long each took.
func (i *installation) acceptBeside(server *process, first int, fn func() error) ([]time.Duration, error) {
	var mu sync.Mutex
	var latencies []time.Duration
	done, beside := make(chan struct{}), make(chan error)
	go func() {
		beside <- concurrently(server.baseURL, i.tokens[i.e], besideClients, i.answers, func(c *connection, n int) error {
			select {
			case <-done:
				if n >= besideClients { // each client sends one in any case
					return nil
				}
			case <-time.After(besidePause):
			}
			begun := time.Now()
			_, err := c.accept(i.e.reference(first + n))
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, time.Since(begun))
			return err
		})
	}()
	err := fn()
	close(done)
	return latencies, errors.Join(err, <-beside)
}

// addBeside adds the results of acceptBeside, which may be of several calls.
func (i *installation) addBeside(what string, latencies []time.Duration) {
	slices.Sort(latencies)
	i.add("Accepts beside "+what+", 99th percentile", milliseconds(latencies[(len(latencies)-1)*99/100]), "< 50 ms",
		fmt.Sprintf("%d accepts by %d clients, p50 %s", len(latencies), besideClients, milliseconds(median(latencies))))
}
