package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Options say what is measured, and with how much.
type Options struct {
	Small    int    // orders of merchant A
	Large    int    // orders of merchant B
	Requests int    // of each kind for each of the two
	Uploads  int    // simultaneous uploads of the largest file
	Changes  int    // accepts, and small uploads, to measure their rate with
	Clients  int    // clients that send these
	Shuffled bool   // the orders come in no order of time, the worst case
	Dir      string // folder to work in; empty: a temporary one
	Program  string // the service's program; empty: it is built
}

// DefaultOptions are those of the figures in docs/performance.md.
func DefaultOptions() Options {
	return Options{Small: 1000, Large: 200_000, Requests: 400, Uploads: 32, Changes: 4000, Clients: 16}
}

// check returns an error where there is nothing to measure with.
func (o Options) check() error {
	if o.Small < 100 || o.Large < o.Small {
		return errors.New("the small merchant needs 100 orders, the large one as many as the small one")
	}
	if o.Requests < 1 || o.Uploads < 1 || o.Changes < 1 || o.Clients < 1 {
		return errors.New("every number must be 1 or more")
	}
	return nil
}

// Run measures and writes the figures to out as one table in Markdown, when all
// are there. What it is about to do goes to progress. An error says that
// something did not work; the table has then not been written.
func Run(ctx context.Context, options Options, out, progress io.Writer) error {
	if err := options.check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(options.Dir, "merchant-orders-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{Options: options, dir: dir}
	b.a, b.b = b.small(), b.large()
	for _, step := range []struct {
		doing string
		do    func(context.Context) error
	}{
		{"building the program", b.build},
		{"measuring the disk", b.measureDisk},
		{"writing order documents", b.writeDocuments},
		{"importing", b.measureImport},
		{"starting and reading", b.measureReads},
		{"uploading the largest files", b.measureLargeUploads},
		{"accepting and uploading", b.measureChanges},
	} {
		_, _ = fmt.Fprintln(progress, step.doing)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return b.figures.write(out)
}

// bench is one run.
type bench struct {
	Options
	dir     string
	program string
	a, b    *merchant // the small and the large one
	figures figures
}
