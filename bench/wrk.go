package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed load.lua
var loadScript []byte

// numberPlaceholder marks where in a path load.lua puts a random number.
const numberPlaceholder = "NUMBER"

// load is the request that wrk sends.
type load struct {
	path string
	// numberFormat, low and high are the format and the bounds of the random
	// number, if the path has a placeholder.
	numberFormat string
	low, high    int
	etag         string // value of If-None-Match; empty: none
}

// wrkResult is the result of one run of wrk.
type wrkResult struct {
	rate     float64 // successful requests a second
	p50, p99 time.Duration
	failed   int // requests without a response or with an error status
}

// findWrk returns an error if wrk is not installed.
func findWrk() error {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("wrk is not installed (Debian: apt-get install wrk)")
	}
	return nil
}

// wrk sends requests on all connections for one slice. Runs with the same seed
// send the same random numbers.
func (b *benchmark) wrk(ctx context.Context, baseURL, token string, l load, seed int) (wrkResult, error) {
	path := filepath.Join(b.workDir, "load.lua")
	if err := os.WriteFile(path, loadScript, 0o600); err != nil {
		return wrkResult{}, err
	}
	command := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(b.clients), "-d"+strconv.Itoa(int(b.slice/time.Second)),
		"--latency", "-s", path, baseURL+l.path, "--",
		token, l.etag, l.numberFormat, strconv.Itoa(l.low), strconv.Itoa(l.high), strconv.Itoa(seed))
	out, err := command.CombinedOutput()
	if err != nil {
		return wrkResult{}, fmt.Errorf("wrk: %w:\n%s", err, out)
	}
	result, err := parseWrkResult(string(out))
	if err != nil {
		return wrkResult{}, fmt.Errorf("%s: %w", l.path, err)
	}
	return result, nil
}

// parseWrkResult parses the line that load.lua writes at the end.
func parseWrkResult(out string) (wrkResult, error) {
	_, line, found := strings.Cut(out, "\nresult ")
	if !found {
		return wrkResult{}, fmt.Errorf("wrk wrote no result:\n%s", out)
	}
	var requests, microseconds, p50, p99, errorStatuses, broken int
	if _, err := fmt.Sscan(line, &requests, &microseconds, &p50, &p99, &errorStatuses, &broken); err != nil {
		return wrkResult{}, fmt.Errorf("parse the result of wrk: %w", err)
	}
	// A busy service may refuse some requests. With many failures the rate would
	// not mean anything.
	failed := errorStatuses + broken
	if failed > requests/10 || requests == 0 || microseconds == 0 {
		return wrkResult{}, fmt.Errorf("%d of %d requests failed", failed, requests)
	}
	return wrkResult{
		rate: float64(requests-failed) / (float64(microseconds) / 1e6), failed: failed,
		p50: time.Duration(p50) * time.Microsecond, p99: time.Duration(p99) * time.Microsecond,
	}, nil
}

// resultOf returns the result of requests that took certain times, of which it changes the
// order.
func resultOf(times []time.Duration, elapsed time.Duration) wrkResult {
	slices.Sort(times)
	at := func(percent int) time.Duration { return times[(len(times)-1)*percent/100] }
	return wrkResult{rate: perSecond(len(times), elapsed), p50: at(50), p99: at(99)}
}

// wrkResults are the results of several rounds.
type wrkResults []wrkResult

// median returns the median of each value, and the sum of all failures.
func (all wrkResults) median() wrkResult {
	var rates []float64
	var p50, p99 []time.Duration
	failed := 0
	for _, r := range all {
		failed += r.failed
		rates, p50, p99 = append(rates, r.rate), append(p50, r.p50), append(p99, r.p99)
	}
	return wrkResult{rate: median(rates), p50: median(p50), p99: median(p99), failed: failed}
}

func (r wrkResult) String() string {
	text := fmt.Sprintf("%s/s, p50 %s, p99 %s", thousands(r.rate), milliseconds(r.p50), milliseconds(r.p99))
	if r.failed > 0 {
		text += fmt.Sprintf(", %d failed", r.failed)
	}
	return text
}
