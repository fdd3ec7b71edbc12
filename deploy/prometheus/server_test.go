package prometheus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// waitTimeout is how long the test waits for Prometheus. Only a test that fails waits
// that long.
const waitTimeout = 2 * time.Minute

// TestScrape lets Prometheus scrape a server with the published configuration, and
// evaluate the alerts and every query of the dashboard.
func TestScrape(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	server := apptest.Start(t, "--admin-listen=127.0.0.1:0")
	p := startPrometheus(t, strings.TrimPrefix(server.AdminURL(), "http://"))
	p.wait(t, "up", func() bool {
		var found []sample
		p.query(t, `up{job="merchant-orders"}`, &found)
		return len(found) == 1 && found[0].Value[1] == "1"
	})
	var loaded struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	p.wait(t, "the alerts", func() bool {
		p.get(t, "/api/v1/rules", &loaded)
		for _, group := range loaded.Groups {
			for _, rule := range group.Rules {
				if rule.LastError != "" {
					t.Fatalf("alert %s: %s", rule.Name, rule.LastError)
				}
				if rule.Health != "ok" {
					return false // not evaluated yet
				}
			}
		}
		return len(loaded.Groups) == 1
	})
	testenv.Equal(t, "alerts are loaded", len(alerts(t).Groups[0].Rules), len(loaded.Groups[0].Rules))
	shown := 0
	for expression := range strings.SplitSeq(expressions(t), "\n") {
		var found []sample
		p.query(t, strings.ReplaceAll(expression, "$instance", ".*"), &found)
		shown += min(len(found), 1)
	}
	// The other panels need requests or failures.
	if shown < 10 {
		t.Errorf("only %d queries of the dashboard have a result", shown)
	}
}

// sample is one result of a query: labels, and time and value.
type sample struct {
	Metric map[string]string
	Value  [2]any
}

// prometheus is a running Prometheus.
type prometheus struct{ url string }

// startPrometheus starts Prometheus with the published configuration, which scrapes
// target here, every second. scripts/release-check takes the program out of Debian's
// package.
func startPrometheus(t *testing.T, target string) prometheus {
	t.Helper()
	program := "../../bin/prometheus"
	if _, err := os.Stat(program); err != nil {
		program = testenv.Program(t, "prometheus", "prometheus")
	}
	rules := testenv.Of(filepath.Abs("alerts.yml")).Must(t)
	dir := t.TempDir()
	config := strings.NewReplacer("127.0.0.1:8081", target, "- alerts.yml", "- "+rules, "15s", "1s").Replace(read(t, "prometheus.yml"))
	testenv.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	address := testenv.FreeAddress(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	testenv.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("log of Prometheus:\n%s", log.String())
		}
	})
	return prometheus{"http://" + address}
}

// wait waits until a condition holds.
func (p prometheus) wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(waitTimeout); !condition(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("Prometheus does not have: %s", what)
		}
	}
}

// query runs a query. found stays empty while Prometheus starts.
func (p prometheus) query(t *testing.T, expression string, found *[]sample) {
	t.Helper()
	var result struct{ Result []sample }
	p.get(t, "/api/v1/query?query="+url.QueryEscape(expression), &result)
	*found = result.Result
}

// get reads the data of a response. It leaves data alone while Prometheus starts.
func (p prometheus) get(t *testing.T, path string, data any) {
	t.Helper()
	response, err := http.Get(p.url + path)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable {
		return
	}
	var body struct {
		Status, Error string
		Data          json.RawMessage
	}
	err = json.NewDecoder(response.Body).Decode(&body)
	if err == nil && body.Status != "success" {
		err = fmt.Errorf("%s", body.Error)
	}
	if err == nil {
		err = json.Unmarshal(body.Data, data)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
