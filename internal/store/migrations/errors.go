package migrations

import (
	"errors"
	"fmt"
)

// ErrNoSchema means that a database has no schema, so no installation is in it.
var ErrNoSchema = errors.New("the database is empty; merchant-orders serve or merchant-orders merchant add makes a new installation")

// OlderSchemaError means that the database has yet to be migrated for this program.
type OlderSchemaError struct {
	Version int64 // of the database's schema
	Known   int64 // the newest version that this program knows
}

func (e *OlderSchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d and this program needs %d; make a backup with the program of that version,"+
		" then run merchant-orders migrate, or start merchant-orders serve", e.Version, e.Known)
}

// NewerSchemaError means that a newer version of the service has migrated the
// database.
type NewerSchemaError struct {
	Version int64 // of the database's schema
	Known   int64 // the newest version that this program knows
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the database was migrated by a newer version of merchant-orders"+
		" (schema version %d, this program knows %d); start that version, or restore a backup that this one has made", e.Version, e.Known)
}

// ForeignSchemaError means that a database has run other steps than those of this
// program, so nothing is known of its schema.
type ForeignSchemaError struct {
	Found string // what is different
}

func (e *ForeignSchemaError) Error() string {
	return "the schema of the database is of a build that was not released: " + e.Found +
		"; nothing was changed: go on with that build, or import the orders into a new installation"
}
