package store

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// serverRows are rows that a server sends.
type serverRows struct{ pgx.Rows }

// Close implements result.
func (r serverRows) Close() error {
	r.Rows.Close()
	return r.Rows.Err()
}

// Scan implements result. The driver looks anew at each query for how to read
// each column; what most of them hold is read here.
func (r serverRows) Scan(into ...any) error {
	values, columns := r.RawValues(), r.FieldDescriptions()
	if len(columns) != len(into) {
		return fmt.Errorf("a row has %d columns, not %d", len(columns), len(into))
	}
	for i, variable := range into {
		if err := scanValue(r.Conn().TypeMap(), &columns[i], values[i], variable); err != nil {
			return fmt.Errorf("column %s: %w", columns[i].Name, err)
		}
	}
	return nil
}

// scanValue reads a column's value, nil for NULL. Only what may be NULL takes
// NULL.
func scanValue(types *pgtype.Map, column *pgconn.FieldDescription, value []byte, into any) error {
	switch variable := into.(type) {
	case *int64:
		if n, ok := wholeNumber(column, value); ok {
			*variable = n
			return nil
		}
	case *string:
		if value != nil && isText(column) {
			*variable = string(value)
			return nil
		}
	case *sql.RawBytes:
		if value == nil || column.DataTypeOID == pgtype.ByteaOID && column.Format == pgtype.BinaryFormatCode {
			*variable = append((*variable)[:0], value...)
			return nil
		}
	case *sql.NullInt64:
		var ok bool
		variable.Int64, ok = wholeNumber(column, value)
		if variable.Valid = ok; ok || value == nil {
			return nil
		}
	case *sql.NullString:
		if variable.Valid = value != nil; value == nil || isText(column) {
			variable.String = string(value)
			return nil
		}
	case *any:
		if n, ok := wholeNumber(column, value); ok {
			*variable = n
			return nil
		}
	default:
		if n, ok := wholeNumber(column, value); ok && setNumber(reflect.ValueOf(into), n) {
			return nil
		}
	}
	return types.Scan(column.DataTypeOID, column.Format, value, into)
}

// wholeNumber reads a value as a column of whole numbers holds it; false for
// NULL and for other columns.
func wholeNumber(column *pgconn.FieldDescription, value []byte) (int64, bool) {
	if column.Format != pgtype.BinaryFormatCode {
		return 0, false
	}
	switch {
	case column.DataTypeOID == pgtype.Int8OID && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true
	case column.DataTypeOID == pgtype.Int4OID && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case column.DataTypeOID == pgtype.Int2OID && len(value) == 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	}
	return 0, false
}

// isText reports whether the values of a column are what they read.
func isText(column *pgconn.FieldDescription) bool {
	return column.DataTypeOID == pgtype.TextOID || column.DataTypeOID == pgtype.VarcharOID
}
