package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"merchantorders/internal/app"
	"merchantorders/internal/ingest"
)

// lineWords are the words in which commands that read lines differ.
type lineWords struct {
	doing string // on the progress bar
	rest  string // what to do after the command was stopped
	// oneRefused and manyRefused follow the number of refused lines.
	oneRefused, manyRefused string
	// results says that standard output has the result of each line, as JSON.
	results bool
}

// lineResults is the flag of commands that read lines.
type lineResults struct {
	JSON bool `name:"json" help:"Print the result of each line as JSON, as the operators' interface does; the counts are on standard error."`
}

// runLines handles an input of a size, reports its refused lines and prints the counts. With
// results, standard output has those instead.
func (p *process) runLines(ctx context.Context, lines ingest.Lines, input io.Reader, size int64, rejected *rejectedLines, words lineWords) error {
	bar, printCounts := p.bar(words.doing, size, true), p.print
	if words.results {
		printCounts = func(format string, args ...any) error { p.printError(format, args...); return nil }
	}
	tally, err := lines.Run(ctx, input, func(batch []ingest.Line, read int64) error {
		for i := range batch {
			if words.results {
				_ = bar.Clear()
				if err := p.printJSON(batch[i].Result); err != nil {
					return err
				}
			}
			problem := batch[i].Problem
			if problem == "" {
				continue
			}
			if !words.results {
				_ = bar.Clear()
				_, _ = fmt.Fprintf(p.stderr, "line %d: %s\n", batch[i].Number, app.OneLine(problem))
			}
			rejected.add(batch[i].Text)
		}
		_ = bar.Set64(read)
		return nil
	})
	_ = bar.Clear()
	counts := make([]string, 0, len(tally.Statuses))
	for _, status := range tally.Statuses {
		counts = append(counts, fmt.Sprintf("%s %d", strings.ReplaceAll(string(status), "_", " "), tally.Counts[status]))
	}
	printErr := printCounts("%s", strings.Join(counts, ", "))
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped before the end of the input; run the command again to " + words.rest)
	case err == nil && tally.Refused > 0:
		return errors.New(count(tally.Refused, words.oneRefused, words.manyRefused))
	}
	return cmp.Or(err, printErr)
}
