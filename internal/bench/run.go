package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"
)

// The databases that can be measured.
const (
	SQLite   = "SQLite"
	Postgres = "PostgreSQL"
)

// Options say what is measured, and with how much.
type Options struct {
	Databases []string       // of the above, in the order of the table
	Small     int            // orders of merchant A
	Large     int            // orders of merchant B
	OneDay    int            // orders of merchant C, all on a single day
	Shuffled  bool           // the orders come in no order of time, the worst case
	Only      *regexp.Regexp // measure the rows alone whose names it matches; nil: all
	Rounds    int            // of service and ceiling by turns; figures are medians
	Slice     time.Duration  // how long each of the two is asked in a round, whole seconds
	Requests  int            // of each kind for each merchant, to see how lists grow
	Uploads   int            // simultaneous uploads of the largest file
	Changes   int            // accepts, and bare updates, in a round
	Clients   int            // connections that ask at the same time
	Dir       string         // folder to work in; empty: a temporary one
	Program   string         // the service's program; empty: it is built
}

// DefaultOptions are those of the figures in docs/performance.md.
func DefaultOptions() Options {
	return Options{
		Databases: []string{SQLite, Postgres}, Small: 1000, Large: 200_000, OneDay: 20_000,
		Rounds: 3, Slice: time.Second, Requests: 400, Uploads: 64, Changes: 8000, Clients: 16,
	}
}

// check returns an error where there is nothing to measure with.
func (o Options) check() error {
	for _, database := range o.Databases {
		if database != SQLite && database != Postgres {
			return fmt.Errorf("the database is %s or %s, not %q", SQLite, Postgres, database)
		}
	}
	switch {
	case len(o.Databases) == 0:
		return errors.New("no database is to be measured")
	case o.Small < 100 || o.Large < o.Small || o.OneDay < o.Small:
		return errors.New("merchant A needs 100 orders, the others as many as A")
	case min(o.Rounds, o.Requests, o.Uploads, o.Changes, o.Clients) < 1:
		return errors.New("every number must be 1 or more")
	case o.Uploads > o.Small*filesEach || o.Rounds*uploadsInRound > o.Large*filesEach:
		return errors.New("an order takes three files: fewer uploads or rounds, or more orders")
	case o.Slice < time.Second || o.Slice%time.Second != 0:
		return errors.New("a slice is whole seconds")
	}
	return nil
}

// wants reports whether a row is to be measured.
func (o Options) wants(row string) bool { return o.Only == nil || o.Only.MatchString(row) }

// Run measures and writes the figures to out as one table in Markdown, when all
// are there. What it is about to do goes to progress. An error says that
// something did not work; the table has then not been written.
func Run(ctx context.Context, options Options, out, progress io.Writer) error {
	if err := options.check(); err != nil {
		return err
	}
	if err := findWrk(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(options.Dir, "merchant-orders-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{Options: options, dir: dir, progress: progress, figures: newFigures(options.Databases)}
	b.merchants = newMerchants(options)
	if err := b.do(ctx, []step{
		{"building the programs", b.build},
		{"writing order documents", b.writeDocuments},
	}); err != nil {
		return err
	}
	for _, database := range options.Databases {
		if err := b.measure(ctx, database); err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	return b.figures.write(out)
}

// bench is one run.
type bench struct {
	Options
	merchants
	dir      string
	program  string
	ceiling  string // the program of the bare handler
	progress io.Writer
	figures  *figures
}

// step is a part of a run.
type step struct {
	doing string
	do    func(context.Context) error
}

func (b *bench) do(ctx context.Context, steps []step) error {
	for _, step := range steps {
		_, _ = fmt.Fprintln(b.progress, step.doing)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return nil
}

// measure fills an installation on a database and measures it.
func (b *bench) measure(ctx context.Context, database string) error {
	i, remove, err := b.newInstallation(database)
	if err != nil {
		return err
	}
	defer remove()
	steps := []step{
		{"the disk alone", i.measureDisk},
		{"importing", i.measureImport},
		{"starting and reading", i.measureReads},
		{"short and long lists", i.measureGrowth},
		{"bare queries", i.measureBareQueries},
		{"accepting", i.measureAccepts},
		{"uploading", i.measureUploads},
		{"uploading all at once", i.measureUploadsAtOnce},
	}
	for n := range steps {
		steps[n].doing = database + ": " + steps[n].doing
	}
	return b.do(ctx, steps)
}

// median returns the middle one of some figures, and sorts them.
func median[T int | float64 | time.Duration](figures []T) T {
	slices.Sort(figures)
	return figures[len(figures)/2]
}
