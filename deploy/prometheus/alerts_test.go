// Package prometheus_test checks the alerts, the dashboard and the page about them
// against each other and against the metrics of a server.
package prometheus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

const page, runbook = "../../docs/monitoring.md", "../../docs/runbook.md"

// rules is the form of alerts.yml.
type rules struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr string
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content := testenv.Of(os.ReadFile(path)).Must(t)
	return string(content)
}

func alerts(t *testing.T) rules {
	t.Helper()
	var r rules
	decoder := yaml.NewDecoder(strings.NewReader(read(t, "alerts.yml")))
	if err := decoder.Decode(&r); err != nil || len(r.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(r.Groups), err)
	}
	return r
}

// promtool returns the path of promtool: the one that scripts/test has taken out of
// Debian's package, or an installed one.
func promtool(t *testing.T) string {
	t.Helper()
	const local = "../../bin/promtool"
	if _, err := os.Stat(local); err == nil {
		return local
	}
	return testenv.Program(t, "promtool", "prometheus")
}

// TestRules runs the tests of the alerts, and has the configuration and the
// expressions of the dashboard checked.
func TestRules(t *testing.T) {
	t.Parallel()
	testenv.Need(t, "the program promtool")
	queries := filepath.Join(t.TempDir(), "dashboard.yml")
	text := "groups:\n  - name: dashboard\n    rules:\n"
	for n, expression := range strings.Split(expressions(t), "\n") {
		text += fmt.Sprintf("      - {record: 'panel%d', expr: '%s'}\n", n, expression)
	}
	testenv.NoError(t, os.WriteFile(queries, []byte(text), 0o600))
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"check", "rules", queries}, {"test", "rules", "alerts_test.yml"}} {
		output, err := exec.CommandContext(t.Context(), promtool(t), args...).CombinedOutput()
		if err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
		}
	}
}

// TestEveryAlertIsExplained checks that each alert has a heading of its name in the
// runbook, in the same order, that its annotations lead there, also on the page that a
// server shows, and that it has a test in which it fires and one in which it does not.
func TestEveryAlertIsExplained(t *testing.T) {
	t.Parallel()
	var named []string
	fires, silent := ruleTests(t)
	server := apptest.Start(t)
	served := testenv.Send(t, "", "GET", server.AdminURL()+"/docs/guide/runbook", "").Body
	for _, rule := range alerts(t).Groups[0].Rules {
		named = append(named, rule.Alert)
		anchor := strings.ToLower(rule.Alert)
		testenv.Equal(t, rule.Alert+": runbook", "docs/runbook.md#"+anchor, rule.Annotations["runbook"])
		testenv.Equal(t, rule.Alert+": runbook_url", "http://127.0.0.1:8081/docs/guide/runbook#"+anchor, rule.Annotations["runbook_url"])
		testenv.Contains(t, rule.Alert+": the runbook of a server", served, ` id="`+anchor+`"`)
		if rule.Annotations["summary"] == "" || !slices.Contains([]string{"warning", "critical"}, rule.Labels["severity"]) {
			t.Errorf("%s: summary %q, labels %v", rule.Alert, rule.Annotations["summary"], rule.Labels)
		}
		if !fires[rule.Alert] || !silent[rule.Alert] {
			t.Errorf("%s: a test in which it fires: %t, one in which it does not: %t", rule.Alert, fires[rule.Alert], silent[rule.Alert])
		}
	}
	var explained []string
	for _, heading := range regexp.MustCompile(`(?m)^### (MerchantOrders\w+)$`).FindAllStringSubmatch(read(t, runbook), -1) {
		explained = append(explained, heading[1])
	}
	if diff := cmp.Diff(named, explained); diff != "" || len(named) == 0 {
		t.Errorf("alerts (-rules +runbook):\n%s", diff)
	}
}

// ruleTests returns the alerts that fire in a test of alerts_test.yml, and those that do not
// in another one.
func ruleTests(t *testing.T) (fires, silent map[string]bool) {
	t.Helper()
	var file struct {
		Tests []struct {
			Rules []struct {
				Alert    string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	testenv.NoError(t, yaml.Unmarshal([]byte(read(t, "alerts_test.yml")), &file))
	fires, silent = make(map[string]bool), make(map[string]bool)
	for _, test := range file.Tests {
		for _, rule := range test.Rules {
			if len(rule.Expected) > 0 {
				fires[rule.Alert] = true
			} else {
				silent[rule.Alert] = true
			}
		}
	}
	return fires, silent
}

// TestMetricsExist checks that a server has every metric that the alerts, the
// dashboard and the page name, and that the page names every metric of the service.
func TestMetricsExist(t *testing.T) {
	t.Parallel()
	served := scrape(t)
	metric := regexp.MustCompile(`\b(?:merchant_orders|process|go)_[a-z_]+`)
	sources := map[string][]string{"page": metric.FindAllString(read(t, page), -1), "dashboard": metric.FindAllString(expressions(t), -1)}
	for _, rule := range alerts(t).Groups[0].Rules {
		sources["alerts"] = append(sources["alerts"], metric.FindAllString(rule.Expr, -1)...)
	}
	for source, names := range sources {
		for _, name := range names {
			family := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			if !served[name] && !served[family] && name != "go_version" {
				t.Errorf("%s: a server has no metric %s", source, name)
			}
		}
		if len(names) < 20 {
			t.Errorf("%s: only %d metrics", source, len(names))
		}
	}
	for name := range served {
		if strings.HasPrefix(name, "merchant_orders_") && !slices.Contains(sources["page"], name) {
			t.Errorf("the page does not describe %s", name)
		}
	}
}

// scrape returns the names of the metrics of a server, without suffixes of
// histograms.
func scrape(t *testing.T) map[string]bool {
	t.Helper()
	s := apptest.Start(t)
	var body []byte
	// The second scrape has the metrics of the first request.
	for range 2 {
		response, err := http.Get(s.Address("/metrics"))
		testenv.NoError(t, err)
		body, err = io.ReadAll(response.Body)
		if closeErr := response.Body.Close(); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
	}
	names := make(map[string]bool)
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\w+) `).FindAllSubmatch(body, -1) {
		names[string(line[1])] = true
	}
	return names
}

// expressions returns the expressions of all panels of the dashboard, one a line.
func expressions(t *testing.T) string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	testenv.NoError(t, json.Unmarshal([]byte(read(t, "../grafana/merchant-orders.json")), &dashboard))
	var lines []string
	ids := make(map[int]bool)
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || ids[panel.ID] || panel.GridPos.X+panel.GridPos.W > 24 || panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %+v", panel)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			lines = append(lines, target.Expr)
		}
	}
	return strings.Join(lines, "\n")
}
