package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// figures are the table: a row for each thing that was measured, and for each
// database the figure, what is asked of it and how it came about.
type figures struct {
	databases []string
	rows      []*row
}

type row struct {
	what  string
	cells map[string][3]string // by database
}

func newFigures(databases []string) *figures { return &figures{databases: databases} }

// add adds what was measured on a database. target and detail may be empty.
func (f *figures) add(database, what, figure, target, detail string) {
	at := slices.IndexFunc(f.rows, func(r *row) bool { return r.what == what })
	if at < 0 {
		at = len(f.rows)
		f.rows = append(f.rows, &row{what: what, cells: make(map[string][3]string)})
	}
	f.rows[at].cells[database] = [3]string{figure, target, detail}
}

// write writes the table, aligned for those who read it as text.
func (f *figures) write(out io.Writer) error {
	lines := [][]string{{"What"}}
	for _, database := range f.databases {
		lines[0] = append(lines[0], database, "asked", "how")
	}
	for _, r := range f.rows {
		line := []string{r.what}
		for _, database := range f.databases {
			cells := r.cells[database]
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

// milliseconds shows a time.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// perSecond returns how many there are in a second.
func perSecond(count int, took time.Duration) float64 { return float64(count) / took.Seconds() }

// thousands shows a whole number with commas.
func thousands(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// ratio shows how much of something is reached, and atLeast and atMost what is
// asked.
func ratio(r float64) string      { return fmt.Sprintf("%.2f", r) }
func atLeast(r float64) string    { return "≥ " + ratio(r) }
func atMost(r float64) string     { return "≤ " + ratio(r) }
func megabytes(mb float64) string { return fmt.Sprintf("%.0f MB", mb) }
