package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"merchantorders/internal/store/sqldb"
)

// Errors of a column that does not hold what its destination takes.
var (
	errNotInteger = errors.New("the value is not an integer")
	errNotText    = errors.New("the value is NULL")
)

// bind binds an argument to a parameter.
func bind(stmt *sqlite.Stmt, param int, arg any) error {
	switch value := arg.(type) {
	case nil:
		stmt.BindNull(param)
	case int64:
		stmt.BindInt64(param, value)
	case int:
		stmt.BindInt64(param, int64(value))
	case string:
		stmt.BindText(param, value)
	case []byte:
		if value == nil {
			stmt.BindNull(param)
			break
		}
		stmt.BindBytes(param, value)
	case *string:
		if value == nil {
			stmt.BindNull(param)
			break
		}
		stmt.BindText(param, *value)
	case []int64, []string:
		list, err := json.Marshal(value)
		if err != nil {
			return err
		}
		stmt.BindText(param, string(list))
	default:
		return fmt.Errorf("argument %d: a %T cannot be bound", param, arg)
	}
	return nil
}

// rows implements sqldb.Rows on a running statement.
type rows struct{ *sqlite.Stmt }

// Scan implements sqldb.Rows.
func (r rows) Scan(dest ...any) error {
	if n := r.ColumnCount(); n != len(dest) {
		return fmt.Errorf("the row has %d columns, not %d", n, len(dest))
	}
	for i, variable := range dest {
		if err := scan(r.Stmt, i, variable); err != nil {
			return fmt.Errorf("column %s: %w", r.ColumnName(i), err)
		}
	}
	return nil
}

// scan scans one column.
func scan(stmt *sqlite.Stmt, column int, dest any) error {
	switch variable := dest.(type) {
	case *int64:
		*variable = stmt.ColumnInt64(column)
		return checkInteger(stmt, column, *variable)
	case *string:
		*variable = stmt.ColumnText(column)
		if *variable == "" && stmt.ColumnIsNull(column) {
			return errNotText
		}
	case **string:
		*variable = nil
		if !stmt.ColumnIsNull(column) {
			*variable = new(stmt.ColumnText(column))
		}
	case *sqldb.TextOrEmpty:
		*variable = sqldb.TextOrEmpty(stmt.ColumnText(column))
	case *[32]byte:
		*variable = [32]byte{}
		stmt.ColumnBytes(column, variable[:])
	case *[]byte:
		*variable = nil
		if !stmt.ColumnIsNull(column) {
			*variable = make([]byte, stmt.ColumnLen(column))
			stmt.ColumnBytes(column, *variable)
		}
	case *sql.RawBytes:
		n := stmt.ColumnLen(column)
		if cap(*variable) < n {
			*variable = make([]byte, n)
		}
		*variable = (*variable)[:n] // the memory of the row before
		stmt.ColumnBytes(column, *variable)
	case *sql.NullInt64:
		*variable = sql.NullInt64{Int64: stmt.ColumnInt64(column), Valid: true}
		if variable.Int64 == 0 && stmt.ColumnIsNull(column) {
			variable.Valid = false
			return nil
		}
		return checkInteger(stmt, column, variable.Int64)
	case *bool:
		n := stmt.ColumnInt64(column)
		*variable = n != 0
		return checkInteger(stmt, column, n)
	case *any:
		*variable = columnValue(stmt, column)
	case sqldb.IntScanner:
		n := stmt.ColumnInt64(column)
		null := n == 0 && stmt.ColumnIsNull(column)
		if !null {
			if err := checkInteger(stmt, column, n); err != nil {
				return err
			}
		}
		return variable.ScanInt(n, null)
	default:
		return fmt.Errorf("a column cannot be scanned into a %T", dest)
	}
	return nil
}

// checkInteger returns an error if a column that was read as n is not an
// integer. SQLite reads such a column as 0, so other numbers need no check.
func checkInteger(stmt *sqlite.Stmt, column int, n int64) error {
	if n == 0 && stmt.ColumnType(column) != sqlite.TypeInteger {
		return errNotInteger
	}
	return nil
}

// columnValue returns the value of a column: nil, int64, float64, string or
// []byte.
func columnValue(stmt *sqlite.Stmt, column int) any {
	switch stmt.ColumnType(column) {
	case sqlite.TypeInteger:
		return stmt.ColumnInt64(column)
	case sqlite.TypeFloat:
		return stmt.ColumnFloat(column)
	case sqlite.TypeText:
		return stmt.ColumnText(column)
	case sqlite.TypeBlob:
		value := make([]byte, stmt.ColumnLen(column))
		stmt.ColumnBytes(column, value)
		return value
	}
	return nil
}
