// Command bench prints a table of how fast and how big the service is on this
// machine. It fails only where something does not work, never for a figure.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"merchantorders/internal/bench"
)

func main() {
	options := bench.DefaultOptions()
	flag.IntVar(&options.Large, "orders", options.Large, "orders of the large merchant")
	flag.IntVar(&options.Small, "small", options.Small, "orders of the small merchant")
	flag.BoolVar(&options.Shuffled, "shuffled", options.Shuffled, "have the orders come in no order of time: the worst case for import and deep pages")
	flag.IntVar(&options.Requests, "requests", options.Requests, "requests of each kind for each merchant")
	flag.IntVar(&options.Uploads, "uploads", options.Uploads, "simultaneous uploads of the largest file")
	flag.IntVar(&options.Changes, "changes", options.Changes, "accepts, and small uploads, to measure their rate with")
	flag.IntVar(&options.Clients, "clients", options.Clients, "clients that send them")
	flag.StringVar(&options.Dir, "dir", options.Dir, "folder to work in, on the disk to be measured; empty: the system's temporary folder")
	flag.StringVar(&options.Program, "program", options.Program, "program to measure; empty: built from this module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench.Run(ctx, options, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
