package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi"
	"merchantorders/openapi/openapitest"
)

// publishedFile has every fact that docs/guide/compatibility.md promises, one a line.
const publishedFile = "testdata/published.txt"

// TestPublished compares the program with what the last release has published: interfaces,
// event types, commands, settings with their defaults, the JSON of commands, and metrics.
// What is new is published with the next release: scripts/release-check asks for it. To add
// it: go test ./internal/app/commands -run TestPublished -update.
// Proves decision 9 (new fields and values).
func TestPublished(t *testing.T) {
	t.Parallel()
	facts := make(map[string]bool)
	s := filled(t, "--no-webhooks") // what webhooks show does not depend on time
	for _, lines := range [][]string{commands.PublishedFlags(t), publishedInterfaces(t), publishedJSON(t, s), publishedMetrics(t, s)} {
		for _, line := range lines {
			facts[line] = true
		}
	}
	for _, name := range order.EventNames {
		facts["event "+name] = true
	}
	text, err := os.ReadFile(publishedFile)
	if err != nil && !commands.Updating() {
		t.Fatal(err)
	}
	published := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		published[strings.TrimSuffix(line, "\n")] = true
	}
	without := func(from, these map[string]bool) []string {
		return slices.Sorted(func(yield func(string) bool) {
			for line := range from {
				if !these[line] && !yield(line) {
					return
				}
			}
		})
	}
	if gone := without(published, facts); len(gone) > 0 {
		t.Errorf("published, and not so any more:\n  %s\nSomebody may depend on it. Put it back, or announce it in docs/guide/compatibility.md first. "+
			"If the change only allows more, such as a wider limit, replace the line in %s.", strings.Join(gone, "\n  "), publishedFile)
	}
	added := without(facts, published)
	if commands.Updating() {
		maps.Copy(published, facts)
		lines := slices.Sorted(maps.Keys(published))
		testenv.NoError(t, os.WriteFile(publishedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	} else if len(added) > 0 && testenv.IsRelease() {
		t.Errorf("new, and not in %s:\n  %s\nThe release publishes it: run go test ./internal/app/commands -run TestPublished -update",
			publishedFile, strings.Join(added, "\n  "))
	}
}

// TestMonitoringPage checks that docs/monitoring.md has every metric that is published.
func TestMonitoringPage(t *testing.T) {
	t.Parallel()
	page := testenv.Of(os.ReadFile("../../../docs/monitoring.md")).Must(t)
	published := testenv.Of(os.ReadFile(publishedFile)).Must(t)
	for _, metric := range regexp.MustCompile(`(?m)^metric (\w+)`).FindAllStringSubmatch(string(published), -1) {
		testenv.Contains(t, "docs/monitoring.md", string(page), "`"+metric[1]+"`")
	}
}

func publishedInterfaces(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, document := range openapi.Documents() {
		promised := testenv.Of(openapitest.Promised(document)).Must(t)
		lines = append(lines, promised...)
	}
	return lines
}

// publishedMetrics returns the metrics of the service with their types and labels.
func publishedMetrics(t *testing.T, s *apptest.Server) []string {
	t.Helper()
	sample := regexp.MustCompile(`^(merchant_orders_\w+?)(?:_bucket|_sum|_count)?(?:{(.*)})? `)
	label := regexp.MustCompile(`(\w+)="[^"]*"`)
	var lines []string
	for line := range strings.Lines(string(testenv.Send(t, "", "GET", s.Address("/metrics"), "").Body)) {
		if kind, ok := strings.CutPrefix(line, "# TYPE merchant_orders_"); ok {
			lines = append(lines, "metric merchant_orders_"+strings.TrimSpace(kind))
		} else if match := sample.FindStringSubmatch(line); match != nil {
			for _, name := range label.FindAllStringSubmatch(match[2], -1) {
				lines = append(lines, "metric "+match[1]+" label "+name[1])
			}
		}
	}
	return lines
}

// jsonRuns are runs of the commands with --json, in an order in which each has something to
// show. URL is that of a webhook.
var jsonRuns = []string{
	"merchant add --id 356 --name Store", "merchant list", "merchant show --id 355",
	"merchant rename --id 355 --name New", "merchant limit --id 355 --requests 200", "merchant zone --id 355 --time-zone UTC", "merchant suspend --id 355 --reason unpaid",
	"merchant resume --id 355", "token create --merchant 355", "token list", "token rotate 1",
	"webhook add --merchant 355 --url URL --after 0 --webhook-allow-private", "webhook test 1 --webhook-allow-private",
	"webhook redeliver 1 --event 1 --webhook-allow-private", "webhook rotate 1", "webhook replay 1 --after 1", "webhook list", "webhook show 1",
	"webhook change 1 --description ERP", "webhook disable 1", "webhook enable 1", "orders accept T-1", "orders reject T-2 --reason damaged", "orders list", "orders show T-1",
	"orders export", "orders watch --after 0 --once", "invoices upload T-1 FILE", "invoices download T-1 1 --output OUTPUT", "invoices link T-1 1",
	"invoices delete T-1 1", "search T-1", "inspect T-1", "audit", "check", "migrate --status", "doctor", "version", "webhook remove 1",
	"backup BACKUP", "restore BACKUP --data RESTORED", "import ORDERS", "transition CHANGES", "copy --to-data COPY", "purge --dry-run", "erase --merchant 355 --reference T-2", "links revoke", "token revoke 1 --children",
}

// publishedJSON returns the fields that commands print with --json.
func publishedJSON(t *testing.T, s *apptest.Server) []string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	work := t.TempDir()
	file := filepath.Join(work, "c.pdf")
	testenv.NoError(t, os.WriteFile(file, []byte("%PDF-1.7"), 0o600))
	testenv.NoError(t, os.WriteFile(invoiceFile(s.Folder, "T-1", "orphan.pdf"), nil, 0o600)) // for check
	orders, changes := filepath.Join(work, "orders.ndjson"), filepath.Join(work, "changes.ndjson")
	testenv.NoError(t, os.WriteFile(orders, ingesttest.Document(901, func(d map[string]any) { d["merchantId"] = apptest.MerchantID }), 0o600))
	testenv.NoError(t, os.WriteFile(changes, []byte(`{"merchantId":355,"reference":"T-2","state":"cancelled"}`), 0o600))
	words := strings.NewReplacer("ORDERS", orders, "CHANGES", changes, "COPY", filepath.Join(work, "copy"), "BACKUP", filepath.Join(work, "b.tar"), "RESTORED", filepath.Join(work, "restored"), "URL", receiver.URL, "FILE", file, "OUTPUT", filepath.Join(work, "output"))
	folder := s.Folder
	folder.Environ = append(os.Environ(), "MERCHANT_ORDERS_ADDRESS="+s.BaseURL, "MERCHANT_ORDERS_TOKEN="+s.Token)
	missing := commands.JSONCommands(t)
	var lines []string
	for _, run := range jsonRuns {
		name, _, _ := strings.Cut(run, " -")
		missing = slices.DeleteFunc(missing, func(command string) bool {
			found := name == command || strings.HasPrefix(name, command+" ")
			if found {
				name = command
			}
			return found
		})
		got := folder.Run(t, "", append(strings.Fields(words.Replace(run)), "--json")...)
		decoder := json.NewDecoder(strings.NewReader(got.Stdout))
		documents := 0
		for decoder.More() {
			var value any
			testenv.NoError(t, decoder.Decode(&value))
			lines = append(lines, fieldsOf("json "+name+" ", value)...)
			documents++
		}
		if documents == 0 {
			t.Errorf("%s --json printed nothing: %+v", run, got)
		}
	}
	// Its JSON needs a cluster.
	testenv.Equal(t, "commands with --json that jsonRuns lacks", []string{"distribute"}, missing)
	return lines
}

// fieldsOf returns the paths and types of the fields of a JSON value. null has no type.
func fieldsOf(at string, value any) []string {
	var lines []string
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for name, member := range value {
			lines = append(lines, fieldsOf(at+"."+name, member)...)
		}
	case []any:
		for _, element := range value {
			lines = append(lines, fieldsOf(at+"[]", element)...)
		}
	case float64:
		lines = append(lines, at+": number")
	default:
		lines = append(lines, fmt.Sprintf("%s: %T", at, value))
	}
	return lines
}
