package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// run runs all measurements, and then writes the results to out as Markdown tables. It
// writes its progress, with the details of each result, to progress. If a measurement fails, run returns
// an error and writes no tables.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := findWrk(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "merchant-orders-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	b := &benchmark{options: o, merchants: newMerchants(o), workDir: dir, progress: progress, report: newReport(o.databases)}
	if err := b.runSteps(ctx, []step{{"building the programs", b.buildPrograms}}); err != nil {
		return err
	}
	if o.stores == 0 {
		if err := b.runSteps(ctx, []step{{"writing order documents", b.writeDocuments}}); err != nil {
			return err
		}
	}
	for _, database := range o.databases {
		if err := b.measure(ctx, database); err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	if err := b.report.check(); err != nil {
		return err
	}
	return b.report.write(out)
}

// benchmark is one run of the command.
type benchmark struct {
	options
	merchants
	workDir         string
	programPath     string // the service
	bareHandlerPath string // see package barehandler
	progress        io.Writer
	report          *report
}

// step is a part of a run.
type step struct {
	name string
	do   func(context.Context) error
}

func (b *benchmark) runSteps(ctx context.Context, steps []step) error {
	for _, step := range steps {
		_, _ = fmt.Fprintln(b.progress, step.name)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// measure creates an installation on a database, fills it and measures it.
func (b *benchmark) measure(ctx context.Context, database string) error {
	i, remove, err := b.newInstallation(database, database)
	if err != nil {
		return err
	}
	defer remove()
	steps := []step{
		{"measuring the disk", i.measureDisk},
		{"importing", i.measureImport},
		{"accepting a few orders of small and large merchants", i.compareAnswers},
		{"starting and reading", i.measureReads},
		{"reading short and long lists", i.measureLists},
		{"exporting few and many orders", i.measureExport},
		{"reading everything else of small and large merchants", i.measureGrowth},
		{"adding rows of each kind", i.measureKinds},
		{"waiting for events", i.measureWaiting},
		{"delivering events", i.measureDeliveries},
		{"delivering events in batches", i.measureBatches},
		{"accepting orders", i.measureAccepts},
		{"accepting orders after a crash", i.measureReturn},
		{"requests far from the database", i.measureFar},
		{"accepting many orders at once", i.measureAnswers},
		{"uploading files", i.measureUploads},
		{"uploading files concurrently", i.measureConcurrentUploads},
		{"accepting orders beside jobs", i.measureBeside},
	}
	if b.stores > 0 {
		steps = []step{{"measuring many stores", i.measureScale}}
	}
	for n := range steps {
		steps[n].name = database + ": " + steps[n].name
	}
	return b.runSteps(ctx, steps)
}

// median sorts the values and returns the middle one.
func median[T int | float64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
