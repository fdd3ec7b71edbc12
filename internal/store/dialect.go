package store

import "database/sql"

// dialect is all in which databases differ for this package.
type dialect struct {
	// snapshot is the isolation of a transaction that reads the same moment
	// throughout.
	snapshot sql.IsolationLevel
	// forUpdate ends a SELECT that locks its rows until the transaction ends.
	// Empty where the transaction has the whole database to itself.
	forUpdate string
	// unavailable reports whether an error means that the database is out of
	// reach for now, not that something is wrong with the statement.
	unavailable func(error) bool
	// again reports whether a transaction that met this error is to be run
	// again as a whole.
	again func(error) bool
}
