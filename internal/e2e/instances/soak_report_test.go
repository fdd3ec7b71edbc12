package instances

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// resources is what an instance uses at a moment.
type resources struct {
	at          time.Duration
	slot        int
	memory      int // resident, in KiB
	goroutines  int
	descriptors int // open ones
}

// The growth that is allowed between the first and the last third of the time after
// warm-up, of the instance that is not killed in that time: a tenth, and as much as
// connections and requests vary.
const (
	memorySlack     = 12 << 10 // KiB
	goroutineSlack  = 100
	descriptorSlack = 100
)

// warmUp is how long caches fill and pools grow.
func warmUp(end time.Duration) time.Duration { return end / 5 }

var residentMemory = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// measure notes what the instances use.
func (s *soak) measure() {
	for slot := range s.instances {
		one := s.instances[slot].Load()
		process := filepath.Join("/proc", strconv.Itoa(one.process.PID()))
		status, err := os.ReadFile(filepath.Join(process, "status"))
		open, openErr := os.ReadDir(filepath.Join(process, "fd"))
		c := s.http
		c.Base = one.process.BaseURL
		metrics, metricsErr := c.Try(http.MethodGet, "/metrics", "")
		memory, goroutines := residentMemory.FindSubmatch(status), goroutineCount.FindStringSubmatch(metrics.Body)
		if err != nil || openErr != nil || metricsErr != nil || memory == nil || goroutines == nil {
			if !one.killed.Load() {
				s.problem("measure instance %d: %v, %v, %v", slot, err, openErr, metricsErr)
			}
			continue
		}
		now := resources{at: s.now(), slot: slot, descriptors: len(open)}
		now.memory, _ = strconv.Atoi(string(memory[1]))
		now.goroutines, _ = strconv.Atoi(goroutines[1])
		s.samples = append(s.samples, now)
	}
}

// report prints the results as a Markdown table, and fails if an instance has grown.
func (s *soak) report(end time.Duration) {
	s.t.Helper()
	c := &s.counts
	rows := [][]string{
		{"duration", end.String()}, {"seed, commit", fmt.Sprintf("%d, %s", *soakSeed, s.commit)},
		{"merchants, waiting readers", fmt.Sprintf("%d, %d", soakMerchants, soakMerchants*soakReaders)},
		{"requests", fmt.Sprint(c.requests.Load())},
		{"responses checked", fmt.Sprint(c.checked.Load())},
		{"responses that met a fault", fmt.Sprint(c.faults.Load())},
		{"responses while the database was replaced, not checked", fmt.Sprint(c.between.Load())},
		{"events delivered to readers", fmt.Sprint(c.events.Load())},
		{"changes acknowledged", fmt.Sprint(len(s.times.done))},
		{"streams of transitions, lines checked", fmt.Sprintf("%d, %d", c.streams.Load(), c.lines.Load())},
		{"searches and reads of the audit log", fmt.Sprint(c.searches.Load())},
		{"deliveries to webhooks of merchants, of the marketplace", fmt.Sprintf("%d, %d", c.deliveries.Load(), c.marketDeliveries.Load())},
		{"events read of all merchants", fmt.Sprint(c.market.Load())},
		{"imports beside it", fmt.Sprint(c.imports.Load())},
		{"instances killed", fmt.Sprint(c.kills)},
		{"failovers", fmt.Sprint(c.failovers)}, {"restores", fmt.Sprint(c.restores)},
		{"events lost by failovers and restores", fmt.Sprint(c.lost)},
		{"storage outages", fmt.Sprint(c.outages)},
		{"tokens revoked", fmt.Sprint(c.revocations.Load())},
		{"problems", fmt.Sprint(c.problems.Load())},
	}
	for slot := range s.instances {
		first, last := s.thirds(slot, end)
		for _, r := range []struct {
			what  string
			of    func(resources) int
			slack int
		}{
			{"memory (KiB)", func(r resources) int { return r.memory }, memorySlack},
			{"goroutines", func(r resources) int { return r.goroutines }, goroutineSlack},
			{"descriptors", func(r resources) int { return r.descriptors }, descriptorSlack},
		} {
			a, b := median(first, r.of), median(last, r.of)
			rows = append(rows, []string{fmt.Sprintf("instance %d: %s, first and last third", slot, r.what), fmt.Sprintf("%d, %d", a, b)})
			if limit := a + a/10 + r.slack; slot == 0 && len(first) > 0 && b > limit {
				s.t.Errorf("instance %d has grown: %s %d, then %d, at most %d are allowed", slot, r.what, a, b, limit)
			}
		}
	}
	var table strings.Builder
	table.WriteString("| measurement | value |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&table, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Print(table.String())
}

// commit returns the commit of the sources, and says if they have been changed since.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "(unknown commit)"
	}
	name := strings.TrimSpace(string(hash))
	if changes, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changes) > 0 {
		name += " (with changes that are not committed)"
	}
	return name
}

// thirds returns the measurements of an instance in the first and the last third of
// the time after warm-up.
func (s *soak) thirds(slot int, end time.Duration) (first, last []resources) {
	third := (end - warmUp(end)) / 3
	for _, r := range s.samples {
		switch {
		case r.slot != slot || r.at < warmUp(end):
		case r.at < warmUp(end)+third:
			first = append(first, r)
		case r.at >= end-third:
			last = append(last, r)
		}
	}
	return first, last
}

// median returns the median of a measurement, 0 if there is none.
func median(of []resources, measure func(resources) int) int {
	var all []int
	for _, r := range of {
		all = append(all, measure(r))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}
