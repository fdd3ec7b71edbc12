package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed load.lua
var script []byte

// anyNumber stands in a path for a number that is another one each time.
const anyNumber = "NUMBER"

// load is a kind of request that wrk sends.
type load struct {
	path string
	// form, low and high say what anyNumber in the path stands for.
	form      string
	low, high int
	tag       string // for If-None-Match; empty: none
}

// pace is how fast a server answered.
type pace struct {
	rate     float64 // requests a second
	p50, p99 time.Duration
	refused  int // requests that were not answered as they should be
}

// findWrk returns an error where wrk is not installed.
func findWrk() error {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("wrk, which asks, is not installed (Debian: apt-get install wrk)")
	}
	return nil
}

// wrk asks a server for a slice of time, by all connections at once. Two calls
// with one seed ask for the same.
func (b *bench) wrk(ctx context.Context, base, token string, l load, seed int) (pace, error) {
	path := filepath.Join(b.dir, "load.lua")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return pace{}, err
	}
	command := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(b.Clients), "-d"+strconv.Itoa(int(b.Slice/time.Second)),
		"--latency", "-s", path, base+l.path, "--", token, l.tag, l.form, strconv.Itoa(l.low), strconv.Itoa(l.high), strconv.Itoa(seed))
	out, err := command.CombinedOutput()
	if err != nil {
		return pace{}, fmt.Errorf("wrk: %w:\n%s", err, out)
	}
	p, err := readFigures(string(out))
	if err != nil {
		return pace{}, fmt.Errorf("%s: %w", l.path, err)
	}
	return p, nil
}

// readFigures reads what load.lua writes at the end.
func readFigures(out string) (pace, error) {
	_, line, found := strings.Cut(out, "\nfigures ")
	if !found {
		return pace{}, fmt.Errorf("wrk tells no figures:\n%s", out)
	}
	var requests, took, p50, p99, refused, broken int
	if _, err := fmt.Sscan(line, &requests, &took, &p50, &p99, &refused, &broken); err != nil {
		return pace{}, fmt.Errorf("wrk's figures: %w", err)
	}
	// A busy service may refuse some. Where it refuses many there is no figure.
	if refused += broken; refused > requests/10 || requests == 0 || took == 0 {
		return pace{}, fmt.Errorf("of %d requests %d were refused", requests, refused)
	}
	return pace{
		rate: float64(requests-refused) / (float64(took) / 1e6), refused: refused,
		p50: time.Duration(p50) * time.Microsecond, p99: time.Duration(p99) * time.Microsecond,
	}, nil
}

// paces are those of several rounds.
type paces []pace

// median returns the middle one of each figure, and all that were refused.
func (all paces) median() pace {
	var rates []float64
	var p50, p99 []time.Duration
	refused := 0
	for _, p := range all {
		refused += p.refused
		rates, p50, p99 = append(rates, p.rate), append(p50, p.p50), append(p99, p.p99)
	}
	return pace{rate: median(rates), p50: median(p50), p99: median(p99), refused: refused}
}

func (p pace) String() string {
	text := fmt.Sprintf("%s/s, p50 %s, p99 %s", thousands(p.rate), milliseconds(p.p50), milliseconds(p.p99))
	if p.refused > 0 {
		text += fmt.Sprintf(", %d refused", p.refused)
	}
	return text
}
