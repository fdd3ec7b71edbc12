package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// figures are the rows of the table.
type figures struct {
	rows [][4]string
}

// add adds a row: what was measured, the figure, what is asked of it, and how
// it came about. The last two may be empty.
func (f *figures) add(what, figure, target, detail string) {
	f.rows = append(f.rows, [4]string{what, figure, target, detail})
}

// write writes the table, aligned for those who read it as text.
func (f *figures) write(out io.Writer) error {
	rows := slices.Insert(slices.Clone(f.rows), 0, [4]string{"What", "Figure", "Target", "How"})
	var widths [4]int
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for n, row := range rows {
		for i, cell := range row {
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

// median returns the middle one of some times, and slowest the last. Both sort
// the times.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func slowest(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)-1]
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
