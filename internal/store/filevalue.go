package store

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"
)

// errNoNumber and errNoText say that a column does not hold what it must.
var (
	errNoNumber = errors.New("it must hold a whole number")
	errNoText   = errors.New("it must hold text")
)

// bind gives an argument to a statement. Numbers of the domain's own types are
// whole numbers; nil is NULL.
func bind(statement *sqlite.Stmt, param int, arg any) error {
	switch value := arg.(type) {
	case nil:
		statement.BindNull(param)
	case int64:
		statement.BindInt64(param, value)
	case string:
		statement.BindText(param, value)
	case []byte:
		if value == nil {
			statement.BindNull(param)
			break
		}
		statement.BindBytes(param, value)
	case bool:
		statement.BindBool(param, value)
	case *string:
		if value == nil {
			statement.BindNull(param)
			break
		}
		statement.BindText(param, *value)
	case sql.NullInt64:
		if !value.Valid {
			statement.BindNull(param)
			break
		}
		statement.BindInt64(param, value.Int64)
	case sql.NullString:
		if !value.Valid {
			statement.BindNull(param)
			break
		}
		statement.BindText(param, value.String)
	default:
		return bindKind(statement, param, reflect.ValueOf(arg))
	}
	return nil
}

// bindKind binds a value by what its type is made of.
func bindKind(statement *sqlite.Stmt, param int, value reflect.Value) error {
	switch {
	case value.CanInt():
		statement.BindInt64(param, value.Int())
	case value.CanUint():
		statement.BindInt64(param, int64(value.Uint()))
	case value.Kind() == reflect.String:
		statement.BindText(param, value.String())
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8:
		return bind(statement, param, value.Bytes())
	default:
		return fmt.Errorf("argument %d: no column takes a %s", param, value.Type())
	}
	return nil
}

// scanRow reads the columns of a row into variables.
func scanRow(statement *sqlite.Stmt, into []any) error {
	if n := statement.ColumnCount(); n != len(into) {
		return fmt.Errorf("a row has %d columns, not %d", n, len(into))
	}
	for i, variable := range into {
		if err := scan(statement, i, variable); err != nil {
			return fmt.Errorf("column %s: %w", statement.ColumnName(i), err)
		}
	}
	return nil
}

// scan reads one column. Only what may be NULL takes NULL.
func scan(statement *sqlite.Stmt, column int, into any) error {
	switch variable := into.(type) {
	case *int64:
		*variable = statement.ColumnInt64(column)
		return number(statement, column, *variable == 0)
	case *string:
		*variable = statement.ColumnText(column)
		return text(statement, column, *variable == "")
	case *[]byte:
		*variable = nil
		if !statement.ColumnIsNull(column) {
			*variable = make([]byte, statement.ColumnLen(column))
			statement.ColumnBytes(column, *variable)
		}
	case *sql.RawBytes:
		// Its room is used again for the next row.
		n := statement.ColumnLen(column)
		if cap(*variable) < n {
			*variable = make([]byte, n)
		}
		*variable = (*variable)[:n]
		statement.ColumnBytes(column, *variable)
	case *sql.NullInt64:
		*variable = sql.NullInt64{Int64: statement.ColumnInt64(column), Valid: true}
		if variable.Int64 == 0 {
			variable.Valid = !statement.ColumnIsNull(column)
		}
	case *sql.NullString:
		*variable = sql.NullString{String: statement.ColumnText(column), Valid: true}
		if variable.String == "" {
			variable.Valid = !statement.ColumnIsNull(column)
		}
	case *bool:
		*variable = statement.ColumnInt64(column) != 0
	case *any:
		*variable = anyValue(statement, column)
	default:
		return scanKind(statement, column, reflect.ValueOf(into))
	}
	return nil
}

// number returns an error for a column that was read as a number and is none.
// SQLite reads 0 then, so that others need no look.
func number(statement *sqlite.Stmt, column int, zero bool) error {
	if zero && statement.ColumnType(column) != sqlite.TypeInteger {
		return errNoNumber
	}
	return nil
}

// text returns an error for a column that was read as text and is NULL.
func text(statement *sqlite.Stmt, column int, empty bool) error {
	if empty && statement.ColumnIsNull(column) {
		return errNoText
	}
	return nil
}

// scanKind reads a column into a variable by what its type is made of.
func scanKind(statement *sqlite.Stmt, column int, pointer reflect.Value) error {
	if pointer.Kind() != reflect.Pointer {
		return fmt.Errorf("cannot be read into a %s", pointer.Type())
	}
	variable, n := pointer.Elem(), statement.ColumnInt64(column)
	if variable.Kind() == reflect.String {
		variable.SetString(statement.ColumnText(column))
		return text(statement, column, variable.IsZero())
	}
	if !setNumber(pointer, n) {
		return fmt.Errorf("%d cannot be read into a %s", n, variable.Type())
	}
	return number(statement, column, n == 0)
}

// anyValue is a column's value as it is stored: nil, int64, float64, string or
// []byte.
func anyValue(statement *sqlite.Stmt, column int) any {
	switch statement.ColumnType(column) {
	case sqlite.TypeInteger:
		return statement.ColumnInt64(column)
	case sqlite.TypeFloat:
		return statement.ColumnFloat(column)
	case sqlite.TypeText:
		return statement.ColumnText(column)
	case sqlite.TypeBlob:
		value := make([]byte, statement.ColumnLen(column))
		statement.ColumnBytes(column, value)
		return value
	}
	return nil
}
