package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"merchantorders/internal/app"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// timestamp formats a time; "-" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// amount formats an amount of the service, which is in minor units. Version 2 does
// not tell the currency, so the minor unit is taken for a hundredth.
func amount(minor int64) string { return order.Decimal(minor, "") }

// textOr joins the parts of a text on one line; "-" if all are empty.
func textOr(parts ...string) string {
	return cmp.Or(app.OneLine(strings.Join(strings.Fields(strings.Join(parts, " ")), " ")), "-")
}

// printError writes one line to standard error.
func (p *process) printError(format string, args ...any) {
	// There is nowhere to report a failure.
	_, _ = fmt.Fprintf(p.stderr, "%s: %s\n", programName, app.OneLine(fmt.Sprintf(format, args...)))
}

// print writes one line to standard output.
func (p *process) print(format string, args ...any) error {
	_, err := fmt.Fprintln(p.stdout, app.OneLine(fmt.Sprintf(format, args...)))
	return err
}

// printJSON writes a value as one line of JSON to standard output.
func (p *process) printJSON(value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := p.stdout.Write(web.EscapeLines(line.Bytes()))
	return err
}

// printResult writes the result of a command, as JSON or as one line of text.
func (p *process) printResult(asJSON bool, document any, format string, args ...any) error {
	if asJSON {
		return p.printJSON(document)
	}
	return p.print(format, args...)
}

// confirm asks on the terminal whether to do what is said, unless the answer is known to be
// yes. It returns a usage error if nobody can be asked, the answer is another one, or ctx ends.
func (p *process) confirm(ctx context.Context, yes bool, what string) error {
	if yes {
		return nil
	}
	if f, ok := p.stdin.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return app.UsageError{Err: errors.New(what + ": --yes confirms it")}
	}
	_, _ = fmt.Fprintf(p.stderr, "%s. Type yes to go on: ", app.OneLine(what))
	answers := make(chan string, 1)
	go func() { // a read of a terminal does not end with ctx
		answer, _ := bufio.NewReader(p.stdin).ReadString('\n')
		answers <- answer
	}()
	answer := ""
	select {
	case answer = <-answers:
	case <-ctx.Done():
	}
	if strings.TrimSpace(answer) != "yes" {
		return app.UsageError{Err: errors.New("not confirmed: nothing was done")}
	}
	return nil
}

// jsonFlag is the flag of commands that print documents.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON for programs, one document a line; times are in RFC 3339."`
}

// printList prints items as a table, or each as one line of JSON.
func printList[T, J any](p *process, flag jsonFlag, heading []string, items []T, row func(T) []string, document func(T) J) error {
	if !flag.JSON {
		return printTable(p, heading, items, row)
	}
	for _, item := range items {
		if err := p.printJSON(document(item)); err != nil {
			return err
		}
	}
	return nil
}

// tableRows is the maximum number of rows in a table. A longer list has several
// tables, which bounds the memory.
const tableRows = 1000

// printAll is printList for any number of items, of which it prints limit at most; 0: all.
func printAll[T any](p *process, asJSON bool, heading []string, items iter.Seq2[T, error], limit int64, row func(T) []string, document func(T) any) error {
	var rows []T
	printed := int64(0)
	flush := func() error {
		table := rows
		rows = nil
		return printTable(p, heading, table, row)
	}
	for item, err := range items {
		if err != nil {
			if len(rows) > 0 {
				err = errors.Join(flush(), err)
			}
			return err
		}
		printed++
		if asJSON {
			err = p.printJSON(document(item))
		} else if rows = append(rows, item); len(rows) == tableRows {
			err = flush()
		}
		if err != nil {
			return err
		}
		if printed == limit {
			break
		}
	}
	if asJSON || printed > 0 && len(rows) == 0 {
		return nil
	}
	return flush()
}

// utc returns a time for JSON; the zero time stays.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}

// section is one of several tables.
type section struct {
	heading []string
	rows    [][]string
}

// newSection returns the table of items.
func newSection[T any](heading []string, items []T, row func(T) []string) section {
	return section{heading, web.Collect(items, row)}
}

// printSections prints tables, with an empty line between two of them. It leaves out those
// without rows.
func (p *process) printSections(sections ...section) error {
	for i, s := range slices.DeleteFunc(sections, func(s section) bool { return len(s.rows) == 0 }) {
		if i > 0 {
			if err := p.print(""); err != nil {
				return err
			}
		}
		if err := printTable(p, s.heading, s.rows, func(row []string) []string { return row }); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints a table with aligned columns.
func printTable[T any](p *process, heading []string, items []T, row func(T) []string) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	// Flush returns the errors of the writes.
	_, _ = fmt.Fprintln(w, strings.Join(heading, "\t"))
	for _, item := range items {
		_, _ = fmt.Fprintln(w, strings.Join(row(item), "\t"))
	}
	return w.Flush()
}

// bar returns a progress bar. It is invisible if standard error is not a terminal
// or size is negative, which means unknown. bytes says whether size is in bytes.
func (p *process) bar(doing string, size int64, bytes bool) *progressbar.ProgressBar {
	f, ok := p.stderr.(*os.File)
	if !ok || size < 0 || !term.IsTerminal(int(f.Fd())) {
		return progressbar.NewOptions64(size, progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(doing),
		progressbar.OptionShowBytes(bytes), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
}

// progress returns a reporter that shows one bar for each stage of a command and
// writes findings to a writer. clearBar removes the bar from the terminal.
func (p *process) progress(findings io.Writer) (reporter *maintenance.Reporter, clearBar func()) {
	current, bar := "", p.bar("", -1, false)
	clearBar = func() { _ = bar.Clear() }
	return &maintenance.Reporter{
		OnFinding: func(finding maintenance.Finding) {
			clearBar()
			_, _ = fmt.Fprintln(findings, app.OneLine(finding.String()))
		},
		OnProgress: func(stage string, done, total int64) {
			if stage != current {
				clearBar()
				current, bar = stage, p.bar(stage, total, false)
			}
			_ = bar.Set64(done)
		},
	}, clearBar
}
