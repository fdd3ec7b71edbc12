// Command bench measures the speed and the size of the service and prints the
// results as one Markdown table.
//
// It runs the built program and uses its command line and its HTTP port only,
// on SQLite and on PostgreSQL, so that it can measure every version of the
// program. Most results are relative to a baseline that is measured on the same
// machine in the same minute: a bare net/http handler, a bare SQL statement, or
// a bare write.
//
// The command fails if a measurement does not work. It never fails because of a
// result.
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
)

func main() {
	options := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, options, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parseFlags returns the options of the command line. It ends the program if
// the command line is not valid.
func parseFlags() options {
	o := defaultOptions()
	oneDay := 0
	flag.Func("databases", "databases to measure, separated by commas (default SQLite,PostgreSQL)", func(text string) error {
		o.databases = strings.Split(text, ",")
		return nil
	})
	flag.IntVar(&o.large, "orders", o.large, "orders of the large merchant, B")
	flag.IntVar(&o.small, "small", o.small, "orders of the small merchant, A")
	flag.IntVar(&oneDay, "one-day", 0, "orders of merchant C, all on one day (default a tenth of B's)")
	flag.IntVar(&o.stores, "stores", o.stores, "measure the orders of so many stores instead of those of merchants A to E")
	flag.BoolVar(&o.shuffled, "shuffled", o.shuffled, "import the orders in random order of time: the worst case for imports and deep pages")
	flag.Func("only", "measure only the rows whose names match this regular expression", func(text string) error {
		var err error
		o.only, err = regexp.Compile(text)
		return err
	})
	flag.IntVar(&o.rounds, "rounds", o.rounds, "how often the service and its baseline are measured in alternation")
	flag.DurationVar(&o.slice, "slice", o.slice, "duration of one measurement with wrk, whole seconds")
	flag.IntVar(&o.requests, "requests", o.requests, "requests of each list for each merchant")
	flag.IntVar(&o.grown, "rows", o.grown, "rows of each kind that grows, before there are ten times as many")
	flag.IntVar(&o.uploads, "uploads", o.uploads, "concurrent uploads of the largest file")
	flag.IntVar(&o.accepts, "changes", o.accepts, "accepts, and bare updates, in one round")
	flag.IntVar(&o.answers, "answers", o.answers, "answers in one request")
	flag.IntVar(&o.clients, "clients", o.clients, "concurrent connections")
	flag.StringVar(&o.dir, "dir", o.dir, "working directory, on the disk to measure (default the system's temporary directory)")
	flag.StringVar(&o.program, "program", o.program, "program to measure (default: built from the module in the parent directory)")
	flag.Parse()
	o.oneDay = cmp.Or(oneDay, max(o.small, o.large/10))
	return o
}
