package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// report is the table of results: a row for each measurement, and for each
// database the value, the target and details.
type report struct {
	databases []string
	rows      []*reportRow
}

type reportRow struct {
	name  string
	cells map[string][3]string // by database
}

func newReport(databases []string) *report { return &report{databases: databases} }

// add adds a result of a database. target and details may be empty.
func (r *report) add(database, name, value, target, details string) {
	at := slices.IndexFunc(r.rows, func(row *reportRow) bool { return row.name == name })
	if at < 0 {
		at = len(r.rows)
		r.rows = append(r.rows, &reportRow{name: name, cells: make(map[string][3]string)})
	}
	r.rows[at].cells[database] = [3]string{value, target, details}
}

// write writes the table as Markdown with aligned columns.
func (r *report) write(out io.Writer) error {
	lines := [][]string{{"What"}}
	for _, database := range r.databases {
		lines[0] = append(lines[0], database, "target", "details")
	}
	for _, row := range r.rows {
		line := []string{row.name}
		for _, database := range r.databases {
			cells := row.cells[database]
			line = append(line, cells[:]...)
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for n, line := range lines {
		for i, cell := range line {
			text.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		text.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				text.WriteString("|" + strings.Repeat("-", width+2))
			}
			text.WriteString("|\n")
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// perSecond returns count divided by a duration in seconds.
func perSecond(count int, elapsed time.Duration) float64 { return float64(count) / elapsed.Seconds() }

// thousands formats a whole number with commas.
func thousands(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func ratio(r float64) string      { return fmt.Sprintf("%.2f", r) }
func atLeast(r float64) string    { return "≥ " + ratio(r) }
func atMost(r float64) string     { return "≤ " + ratio(r) }
func megabytes(mb float64) string { return fmt.Sprintf("%.0f MB", mb) }
