package store

import (
	"context"
	"io"
	"time"
)

// dialect is all in which databases differ for this package.
type dialect struct {
	// forUpdate ends a SELECT that locks its rows until the transaction ends.
	// Empty where the transaction has the whole database to itself.
	forUpdate string
	// numbered says how the parameters of generated statements are written: $1,
	// or ?.
	numbered bool
	// nextInvoice takes the next id of an invoice file.
	nextInvoice string
	// lastInvoice reads the newest id of an invoice file, 0 before the first,
	// and setInvoice sets it.
	lastInvoice, setInvoice string
	// integrity looks through the whole file and returns what is wrong with it,
	// a text a row, or one row "ok". Empty where that is the server's affair.
	integrity string
	// exclude keeps every other copy away from the database, or, when shared,
	// those that would write to it, until what it returns is closed; nil when
	// another one is at work.
	exclude func(ctx context.Context, db *DB, shared bool) (io.Closer, error)
	// distant says that a statement takes long enough, on its way to a server,
	// for one with a join to be better than two without.
	distant bool
	// clustered reports whether tables can be spread over several servers.
	clustered bool
	// unavailable reports whether an error means that the database is out of
	// reach for now, not that something is wrong with the statement.
	unavailable func(error) bool
	// again reports whether a transaction that met this error is to be run
	// again as a whole.
	again func(error) bool
	// changeLimit bounds a whole transaction that writes, and orderLimit is
	// added to it for each order of a batch. 0: a change takes what it takes.
	changeLimit, orderLimit time.Duration
}
