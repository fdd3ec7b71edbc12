// Command bench prints a table of how fast and how big the service is on this
// machine. It fails only where something does not work, never for a figure.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"merchantorders/internal/bench"
)

func main() {
	options := flags(bench.DefaultOptions())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench.Run(ctx, options, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// flags reads the command line, which ends the program where it is wrong.
func flags(options bench.Options) bench.Options {
	oneDay := 0
	flag.Func("databases", "what to measure, separated by commas (default SQLite,PostgreSQL)", func(text string) error {
		options.Databases = strings.Split(text, ",")
		return nil
	})
	flag.IntVar(&options.Large, "orders", options.Large, "orders of the large merchant, B")
	flag.IntVar(&options.Small, "small", options.Small, "orders of the small merchant, A")
	flag.IntVar(&oneDay, "one-day", 0, "orders of merchant C, all on a single day (default a tenth of B's)")
	flag.BoolVar(&options.Shuffled, "shuffled", options.Shuffled, "have the orders come in no order of time: the worst case for import and deep pages")
	flag.Func("only", "measure the rows alone whose names match this regular expression", func(text string) error {
		var err error
		options.Only, err = regexp.Compile(text)
		return err
	})
	flag.IntVar(&options.Rounds, "rounds", options.Rounds, "how often the service and what it is compared with are asked by turns")
	flag.DurationVar(&options.Slice, "slice", options.Slice, "how long each of them is asked in a round, whole seconds")
	flag.IntVar(&options.Requests, "requests", options.Requests, "requests of each kind for each merchant, to see how lists grow")
	flag.IntVar(&options.Uploads, "uploads", options.Uploads, "simultaneous uploads of the largest file")
	flag.IntVar(&options.Changes, "changes", options.Changes, "accepts, and bare updates, in a round")
	flag.IntVar(&options.Clients, "clients", options.Clients, "connections that ask at the same time")
	flag.StringVar(&options.Dir, "dir", options.Dir, "folder to work in, on the disk to be measured; empty: the system's temporary folder")
	flag.StringVar(&options.Program, "program", options.Program, "program to measure; empty: built from this module")
	flag.Parse()
	options.OneDay = cmp.Or(oneDay, max(options.Small, options.Large/10))
	return options
}
