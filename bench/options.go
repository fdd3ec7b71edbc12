package main

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// The databases that can be measured.
const (
	sqlite   = "SQLite"
	postgres = "PostgreSQL"
)

// options say what is measured, and with how much data.
type options struct {
	databases []string       // in the order of the table's columns
	small     int            // orders of merchant A
	large     int            // orders of merchant B
	oneDay    int            // orders of merchant C, all on one day
	stores    int            // 0: measure merchants A to E; else scale, with large orders of so many stores
	shuffled  bool           // the orders are imported in random order of time
	only      *regexp.Regexp // names of the rows to measure; nil: all
	rounds    int            // alternations of service and baseline; results are medians
	slice     time.Duration  // duration of one run of wrk, whole seconds
	requests  int            // requests of each list for each merchant
	grown     int            // rows of each kind that grows, before there are ten times as many
	uploads   int            // concurrent uploads of the largest file
	accepts   int            // accepts, and bare updates, in one round
	answers   int            // answers in one request
	clients   int            // concurrent connections
	dir       string         // working directory; empty: a temporary one
	program   string         // path of the program; empty: it is built
}

// defaultOptions returns the options of the results in docs/performance.md.
func defaultOptions() options {
	return options{
		databases: []string{sqlite, postgres}, small: 1000, large: 200_000, oneDay: 20_000,
		rounds: 3, slice: time.Second, requests: 400, grown: 400, uploads: 64, accepts: 8000, answers: 10_000, clients: 16,
	}
}

// check returns an error if the options allow no measurement.
func (o options) check() error {
	for _, database := range o.databases {
		if database != sqlite && database != postgres {
			return fmt.Errorf("unknown database %q: want %s or %s", database, sqlite, postgres)
		}
	}
	switch {
	case len(o.databases) == 0:
		return errors.New("no database: name one or more")
	case o.small < 100 || o.large < o.small || o.oneDay < o.small:
		return errors.New("too few orders: merchant A needs 100 or more, the others as many as A or more")
	case o.stores < 0 || o.stores > 0 && o.large < 10*o.stores:
		return errors.New("too few orders: each store needs 10 or more")
	case min(o.rounds, o.requests, o.grown, o.uploads, o.accepts, o.answers, o.clients) < 1:
		return errors.New("rounds, requests, rows, uploads, changes, answers and clients must be 1 or more")
	case o.uploads > o.small*maxFiles || o.rounds*uploadsPerRound > o.large*maxFiles:
		return fmt.Errorf("too many uploads: an order takes %d files; use fewer uploads or rounds, or more orders", maxFiles)
	case o.slice < time.Second || o.slice%time.Second != 0:
		return fmt.Errorf("slice %s: want whole seconds", o.slice)
	}
	return nil
}

// wants reports whether a row is to be measured.
func (o options) wants(row string) bool { return o.only == nil || o.only.MatchString(row) }
