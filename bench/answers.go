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
		i.addBeside("answers", beside, 0)
		return nil
	})
}

// compareAnswers accepts registered orders of merchants A and B, in requests in turn.
func (i *installation) compareAnswers(ctx context.Context) error {
	const name = "One answer of a request: B/A"
	if !i.wants(name) {
		return nil
	}
	return i.withServer(ctx, func(server *process) error {
		const requests, most = 8, 25 // answers of a request
		merchants := []*merchant{i.a, i.b}
		var references [2][]string
		for n, m := range merchants {
			c, err := dial(server.baseURL, i.tokens[m])
			if err != nil {
				return err
			}
			references[n], err = c.registered(requests * most)
			c.close()
			if err != nil {
				return err
			}
		}
		size := min(len(references[0]), len(references[1])) / requests
		if size == 0 {
			return fmt.Errorf("answers: merchants A and B have %d and %d registered orders, want %d of each", len(references[0]), len(references[1]), requests)
		}
		var times [2][]time.Duration // of an answer
		for request := range requests {
			for n, m := range merchants {
				elapsed, err := sendAnswers(server.baseURL, i.tokens[m], references[n][request*size:][:size])
				if err != nil {
					return err
				}
				times[n] = append(times[n], elapsed/time.Duration(size))
			}
		}
		a, b := median(times[0]), median(times[1])
		i.add(name, ratio(float64(b)/float64(a)), atMost(1.25), fmt.Sprintf("A %s, B %s", a, b))
		return nil
	})
}

// sendAnswers accepts registered orders in one request and returns how long it took.
func sendAnswers(baseURL, token string, references []string) (time.Duration, error) {
	var body bytes.Buffer
	for _, reference := range references {
		fmt.Fprintf(&body, `{"orderReference":%q,"answer":"accept"}`+"\n", reference)
	}
	c, err := dial(baseURL, token)
	if err != nil {
		return 0, err
	}
	defer c.close()
	start := time.Now()
	response, results, err := c.send(http.MethodPost, "/v2/orders/answers", "Content-Type: application/x-ndjson\r\n", body.Bytes())
	elapsed := time.Since(start)
	err = checkOK(response, results, err, "answers")
	if err == nil && bytes.Count(results, []byte(`"status":"changed"`)) != len(references) {
		err = fmt.Errorf("answers: not all of %d are changed", len(references))
	}
	return elapsed, err
}

// answer accepts orders of merchant E in one request, from its order first on, and as
// many more at most one by one. It returns the time of the request and those of the
// other accepts.
func (i *installation) answer(server *process, first int) (elapsed time.Duration, beside []time.Duration, err error) {
	references := make([]string, i.answers)
	for n := range references {
		references[n] = i.e.reference(first + n)
	}
	beside, err = i.acceptBeside(server, first+i.answers, func() (err error) {
		elapsed, err = sendAnswers(server.baseURL, i.tokens[i.e], references)
		return err
	})
	return elapsed, beside, err
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

// addBeside adds the results of acceptBeside, which may be of several calls. loops is the 99th
// percentile beside two busy loops; 0: it was not measured.
func (i *installation) addBeside(what string, latencies []time.Duration, loops time.Duration) {
	p99 := percentile99(latencies)
	details := fmt.Sprintf("%d accepts by %d clients, p50 %s", len(latencies), besideClients, milliseconds(median(latencies)))
	if loops > 0 {
		details += "; beside two busy loops: ratio " + ratio(float64(p99)/float64(loops))
	}
	i.add("Accepts beside "+what+", 99th percentile", milliseconds(p99), "< 50 ms", details)
}

func percentile99(latencies []time.Duration) time.Duration {
	slices.Sort(latencies)
	return latencies[(len(latencies)-1)*99/100]
}
