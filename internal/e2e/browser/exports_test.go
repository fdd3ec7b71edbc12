package browser

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

// export downloads a view as a workbook and as NDJSON, and finds the same orders in both, those
// with the references.
func (p *user) export(t *testing.T, query string, references ...string) {
	folder := p.downloads(t)
	p.see(t, "/console/orders"+query, ".exports", "Excel")
	p.click(t, `.exports a[href*=".xlsx"]`)
	table := p.downloaded(t, filepath.Join(folder, "*.xlsx"))
	p.click(t, `.exports a[href*=".ndjson"]`)
	lines := p.downloaded(t, filepath.Join(folder, "*.ndjson"))

	fromSheet, fromJSON := sheetRows(t, table), jsonRows(t, lines)
	if diff := cmp.Diff(fromSheet, fromJSON); diff != "" {
		t.Errorf("rows (-workbook +NDJSON):\n%s", diff)
	}
	var got []string
	for _, row := range fromSheet {
		got = append(got, row[0])
	}
	testenv.Equal(t, "exported orders", references, got)
}

// sheetRows returns the reference and the total of each order of a workbook.
func sheetRows(t *testing.T, content []byte) [][]string {
	t.Helper()
	sheet := testenv.Sheet(t, content, "1")
	total := slices.IndexFunc(sheet[0], func(heading string) bool { return heading == "Total" || heading == "Σύνολο" })
	var rows [][]string
	for _, row := range sheet[1:] {
		rows = append(rows, []string{row[0], row[total]})
	}
	return rows
}

// jsonRows returns the reference and the total of each order of an NDJSON.
func jsonRows(t *testing.T, content []byte) [][]string {
	t.Helper()
	var rows [][]string
	for line := range bytes.Lines(content) {
		var order map[string]any
		if err := json.Unmarshal(line, &order); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		rows = append(rows, []string{order["id"].(string), order["total"].(string)})
	}
	return rows
}
