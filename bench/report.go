package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jobs are the rows of the first table: what somebody waits for, and the beginning of the
// name of the row that shows it.
var jobs = []struct{ job, row string }{
	{"copy everything: export an order among many, against among few", "Export, an order: B/A"},
	{"answer a day: 10,000 accepts in one request", "Answers, "},
	{"answer an order, against one durable update", "Accepts, relative to bare updates"},
	{"answer an order, database 1 ms away, in round trips", "Far database, accepts by 1 client, 1ms"},
	{"hear of a change: the marketplace's webhook", "Deliveries of the marketplace's webhook"},
	{"find a caller's order by e-mail address, in 200,000 orders against in 1,000", "Growth, operator, search by e-mail address: all/A"},
	{"come back after a crash of the database", "Return after a crash"},
	{"see the newest orders, against a bare handler", "v2 list of 10"},
	{"read any order, against a bare handler", "v2 order, random"},
	{"ask for an order that has not changed, against a bare handler", "v2 order, 304"},
}

// report is the results: a row for each measurement.
type report struct {
	databases []string
	rows      []*reportRow
}

type reportRow struct {
	name    string
	results map[string]result // by database
}

// result is the result of a measurement. target and details may be empty.
type result struct{ value, target, details string }

func newReport(databases []string) *report { return &report{databases: databases} }

// add adds a result of a database.
func (r *report) add(database, name string, found result) {
	at := slices.IndexFunc(r.rows, func(row *reportRow) bool { return row.name == name })
	if at < 0 {
		at = len(r.rows)
		r.rows = append(r.rows, &reportRow{name: name, results: make(map[string]result)})
	}
	r.rows[at].results[database] = found
}

// nothing is what a measurement says that has measured nothing.
var nothing = regexp.MustCompile(`(^|[^\d.,])0 ?[a-z]*/s|NaN|Inf`)

// check returns an error for each row that has measured nothing.
func (r *report) check() error {
	var errs []error
	for _, row := range r.rows {
		for database, found := range row.results {
			if nothing.MatchString(found.value + "; " + found.details) {
				errs = append(errs, fmt.Errorf("%s: %s: nothing was measured: %s, %s", database, row.name, found.value, found.details))
			}
		}
	}
	return errors.Join(errs...)
}

// line is a line of a table: a row of the report, or several of a kind.
type line struct {
	name string
	rows []*reportRow
}

// write writes the two tables of docs/performance.md: that of the jobs, with details, and
// that of everything.
func (r *report) write(out io.Writer) error {
	var first, second []line
	for _, job := range jobs {
		at := slices.IndexFunc(r.rows, func(row *reportRow) bool { return strings.HasPrefix(row.name, job.row) })
		if at >= 0 {
			first = append(first, line{job.job, r.rows[at : at+1]})
		}
	}
	for _, row := range r.rows {
		group := groupOf(row.name)
		at := slices.IndexFunc(second, func(l line) bool { return l.name == group })
		if at < 0 {
			at, second = len(second), append(second, line{name: group})
		}
		second[at].rows = append(second[at].rows, row)
	}
	_, err := io.WriteString(out, r.table("what somebody waits for", first, true)+"\n"+r.table("measured", second, false))
	return err
}

// grouped are the names of rows of which the second table has one for all.
var grouped = regexp.MustCompile(`^(Growth|List), .*(: .*)$|^v\d .*, (during \d+ .*)$|^(Far database, .*), \w+$`)

// groupOf returns the name of the line of the second table that a row is in.
func groupOf(name string) string {
	if parts := grouped.FindStringSubmatch(name); parts != nil {
		return strings.Join(parts[1:], "")
	}
	return name
}

// table returns a table in Markdown.
func (r *report) table(title string, lines []line, detailed bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %s | goal | %s |\n|%s\n", title, strings.Join(r.databases, " | "), strings.Repeat("---|", 2+len(r.databases)))
	for _, l := range lines {
		name := l.name
		if len(l.rows) > 1 {
			name += fmt.Sprintf(" (%d)", len(l.rows))
		}
		fmt.Fprintf(&text, "| %s | %s |", name, r.goals(l.rows))
		for _, database := range r.databases {
			text.WriteString(" " + cell(l.rows, database, detailed) + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// goals returns the goals of rows, which may differ between databases.
func (r *report) goals(rows []*reportRow) string {
	var all []string
	for _, database := range r.databases {
		var goals []string
		for _, row := range rows {
			if goal := row.results[database].target; goal != "" && !slices.Contains(goals, goal) {
				goals = append(goals, goal)
			}
		}
		if goal := strings.Join(goals, ", "); goal != "" && !slices.Contains(all, goal) {
			all = append(all, goal)
		}
	}
	return strings.Join(all, "; ")
}

// cell returns the results of rows on a database: that of one, or the least and the most.
// They are bold if one misses its goal.
func cell(rows []*reportRow, database string, detailed bool) string {
	var found []result
	for _, row := range rows {
		if one, ok := row.results[database]; ok {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		return ""
	}
	least := slices.MinFunc(found, func(a, b result) int { return cmp.Compare(number(a.value), number(b.value)) })
	most := slices.MaxFunc(found, func(a, b result) int { return cmp.Compare(number(a.value), number(b.value)) })
	text := least.value
	if most.value != text {
		text += " to " + most.value
	}
	if slices.ContainsFunc(found, result.missed) {
		text = "**" + text + "**"
	}
	if detailed && found[0].details != "" {
		text += ": " + found[0].details
	}
	return text
}

// missed reports whether a result misses its target, whose unit it has.
func (r result) missed() bool {
	value, target := number(r.value), number(r.target)
	switch {
	case r.target == "":
		return false
	case strings.HasPrefix(r.target, "≥"):
		return value < target
	case strings.HasPrefix(r.target, "<"):
		return value >= target
	default: // ≤
		return value > target
	}
}

// firstNumber is the first number of a text.
var firstNumber = regexp.MustCompile(`-?\d[\d,]*(\.\d+)?`)

// number returns the first number of a text, 0 if it has none.
func number(text string) float64 {
	n, _ := strconv.ParseFloat(strings.ReplaceAll(firstNumber.FindString(text), ",", ""), 64)
	return n
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
