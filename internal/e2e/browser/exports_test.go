package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

// exportedFields are the columns of the CSV that are compared with the NDJSON.
var exportedFields = []string{"id", "state", "createdAt", "total", "lastName"}

// export downloads a view as CSV and as NDJSON, and finds the same orders in both, those
// with the references.
func (p *staff) export(t *testing.T, query string, references ...string) {
	folder := t.TempDir()
	if _, err := chromedp.CallBrowser(p.ctx, chromium.SetDownloadBehavior, chromium.SetDownloadBehaviorParams{
		Behavior: chromium.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
	}); err != nil {
		t.Fatal(err)
	}
	p.see(t, "/console/orders"+query, ".exports", "CSV")
	p.click(t, `.exports a[href*=".csv"]`)
	table := p.downloaded(t, filepath.Join(folder, "orders.csv"))
	p.click(t, `.exports a[href*=".ndjson"]`)
	lines := p.downloaded(t, filepath.Join(folder, "orders.ndjson"))

	fromCSV, fromJSON := csvRows(t, table), jsonRows(t, lines)
	if diff := cmp.Diff(fromCSV, fromJSON); diff != "" {
		t.Errorf("rows (-CSV +NDJSON):\n%s", diff)
	}
	var got []string
	for _, row := range fromCSV {
		got = append(got, row[0])
	}
	testenv.Equal(t, "exported orders", references, got)
}

// downloaded waits until the browser has stored a file, and returns its content. The
// file has another name until it is whole.
func (p *staff) downloaded(t *testing.T, path string) []byte {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if content, err := os.ReadFile(path); err == nil && len(content) > 0 {
			return content
		}
		select {
		case <-poll.C:
		case <-p.ctx.Done():
			t.Fatalf("%s is not downloaded; faults so far: %q", path, p.seen())
		}
	}
}

// csvRows returns the exportedFields of each order of a CSV.
func csvRows(t *testing.T, content []byte) [][]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff")))).ReadAll()
	if err != nil || len(records) == 0 {
		t.Fatalf("%v: %s", err, content)
	}
	var rows [][]string
	for _, record := range records[1:] {
		var row []string
		for _, field := range exportedFields {
			row = append(row, record[slices.Index(records[0], field)])
		}
		rows = append(rows, row)
	}
	return rows
}

// jsonRows returns the exportedFields of each order of an NDJSON.
func jsonRows(t *testing.T, content []byte) [][]string {
	t.Helper()
	var rows [][]string
	for line := range bytes.Lines(content) {
		var order map[string]any
		if err := json.Unmarshal(line, &order); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var row []string
		for _, field := range exportedFields {
			row = append(row, order[field].(string))
		}
		rows = append(rows, row)
	}
	return rows
}
