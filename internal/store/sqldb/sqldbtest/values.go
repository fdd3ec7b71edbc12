package sqldbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

func testArguments(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	text := "Μαρία"
	type number int64
	for i, test := range []struct {
		column string
		arg    any
		want   any // an error: the argument is refused
	}{
		{"number", nil, nil},
		{"number", int64(-1 << 63), int64(-1 << 63)},
		{"number", 7, int64(7)},
		{"small", 7, int64(7)},
		{"number", number(7), errors.ErrUnsupported},
		{"number", 7.5, errors.ErrUnsupported},
		{"text", text, text},
		{"text", "", ""},
		{"text", &text, text},
		{"text", (*string)(nil), nil},
		{"bytes", []byte{0, 255}, []byte{0, 255}},
		{"bytes", []byte(nil), nil},
	} {
		err := exec(t.Context(), db, fmt.Sprintf(`INSERT INTO sample (id, %s) VALUES ($1, $2)`, test.column), i, test.arg)
		if want, _ := test.want.(error); errors.Is(want, errors.ErrUnsupported) {
			if err == nil {
				t.Errorf("argument %d, a %T, is accepted", i, test.arg)
			}
			continue
		}
		if err != nil {
			t.Errorf("argument %d, a %T: %v", i, test.arg, err)
			continue
		}
		var got any
		err = db.QueryRow(t.Context(), fmt.Sprintf(`SELECT %s FROM sample WHERE id = $1`, test.column), []any{i}, &got)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("argument %d, a %T: error %v (-want +got):\n%s", i, test.arg, err, diff)
		}
	}
	if err := exec(t.Context(), db, `INSERT INTO sample (id, number) VALUES ($1, $2)`, 100); err == nil {
		t.Error("a missing argument is accepted")
	}
}

// scan reads a column of a row into a variable and returns the variable's value, or
// "error" if the column has no such value.
type scan func(t *testing.T, db sqldb.DB, column string, id int) any

// into returns the scan into a variable with an initial value.
func into[T any](initial T) scan { return through(initial, func(v *T) any { return v }) }

// through is into for a destination of Scan that is made of the variable.
func through[T any](initial T, dest func(*T) any) scan {
	return func(t *testing.T, db sqldb.DB, column string, id int) any {
		v := initial
		if err := db.QueryRow(t.Context(), fmt.Sprintf(`SELECT %s FROM sample WHERE id = $1`, column), []any{id}, dest(&v)); err != nil {
			return "error"
		}
		if raw, ok := any(v).(sql.RawBytes); ok {
			return string(raw)
		}
		return v
	}
}

func testScan(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	mustExec(t, db, `INSERT INTO sample (id, number, small, text, bytes) VALUES (1, 300, 7, 'Μαρία', $1)`, []byte{0, 255})
	mustExec(t, db, `INSERT INTO sample (id, number, text) VALUES (2, 0, '')`)
	mustExec(t, db, `INSERT INTO sample (id) VALUES (3)`)
	intoInt32 := through(int32(0), func(v *int32) any { return sqldb.Int(v) })
	// The rows are those above: values, zero values and NULL.
	for _, test := range []struct {
		name, column string
		want         [3]any
		scan         scan
	}{
		{"int64", "number", [3]any{int64(300), int64(0), "error"}, into(int64(0))},
		{"int64", "text", [3]any{"error", "error", "error"}, into(int64(0))},
		{"Int of uint8", "number", [3]any{"error", uint8(0), "error"}, through(uint8(0), func(v *uint8) any { return sqldb.Int(v) })},
		{"Int of int32", "small", [3]any{int32(7), "error", "error"}, intoInt32},
		{"Int of int32", "text", [3]any{"error", "error", "error"}, intoInt32},
		{"IntOrZero", "number", [3]any{300, 0, 0}, through(7, func(v *int) any { return sqldb.IntOrZero(v) })},
		{"IntOrZero", "text", [3]any{"error", "error", 0}, through(7, func(v *int) any { return sqldb.IntOrZero(v) })},
		{"Time", "number", [3]any{time.Unix(300, 0).UTC(), time.Unix(0, 0).UTC(), time.Time{}}, through(time.Now(), func(v *time.Time) any { return sqldb.Time(v) })},
		{"Flag", "number", [3]any{true, false, false}, through(true, func(v *bool) any { return sqldb.Flag(v) })},
		{"NotNull", "number", [3]any{true, true, false}, through(true, func(v *bool) any { return sqldb.NotNull(v) })},
		{"NullInt64", "number", [3]any{sql.NullInt64{Int64: 300, Valid: true}, sql.NullInt64{Valid: true}, sql.NullInt64{}}, into(sql.NullInt64{})},
		{"NullInt64", "text", [3]any{"error", "error", sql.NullInt64{}}, into(sql.NullInt64{})},
		{"bool", "number = 300", [3]any{true, false, "error"}, into(false)},
		{"string", "text", [3]any{"Μαρία", "", "error"}, into("")},
		{"*string", "text", [3]any{new("Μαρία"), new(""), (*string)(nil)}, into(new("old"))},
		{"OrEmpty", "text", [3]any{"Μαρία", "", ""}, through("old", func(v *string) any { return sqldb.OrEmpty(v) })},
		{"[32]byte", "bytes", [3]any{[32]byte{1: 255}, [32]byte{}, [32]byte{}}, into([32]byte{7: 7})},
		{"[]byte", "bytes", [3]any{[]byte{0, 255}, []byte(nil), []byte(nil)}, into([]byte("old"))},
		{"RawBytes", "bytes", [3]any{"\x00\xff", "", ""}, into(sql.RawBytes("old"))},
		{"any", "bytes", [3]any{[]byte{0, 255}, nil, nil}, into[any](nil)},
		{"int32", "small", [3]any{"error", "error", "error"}, into(int32(0))},
	} {
		for i, want := range test.want {
			testenv.Equal(t, fmt.Sprintf("%s from %s of row %d", test.name, test.column, 1+i), want, test.scan(t, db, test.column, 1+i))
		}
	}
}

func testRows(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	var id int64
	testenv.Equal(t, "no row", sql.ErrNoRows, db.QueryRow(t.Context(), `SELECT id FROM sample`, nil, &id))
	mustExec(t, db, `INSERT INTO sample (id, text) VALUES (1, 'a'), (2, 'b'), (3, 'c')`)
	if err := db.QueryRow(t.Context(), `SELECT id, text FROM sample`, nil, &id); err == nil {
		t.Error("two columns are scanned into one variable")
	}
	for _, q := range []sqldb.Querier{db, db.WithoutTimeout()} {
		got, err := sqldb.Column[string](t.Context(), q, `SELECT text FROM sample ORDER BY id`)
		if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
	// stop ends a query before its last row.
	stop := func(q sqldb.Querier) error {
		n := 0
		testenv.Equal(t, "an error of the caller", errTest, q.Query(t.Context(), `SELECT id FROM sample`, nil, func(sqldb.Rows) error {
			n++
			return errTest
		}))
		testenv.Equal(t, "rows until the error", 1, n)
		return nil
	}
	testenv.NoError(t, errors.Join(stop(db), db.Snapshot(t.Context(), stop)))
	if err := db.Query(t.Context(), `SELECT nothing FROM sample`, nil, func(sqldb.Rows) error { return nil }); err == nil {
		t.Error("an unknown column is no error")
	}
	testenv.NoError(t, db.InTx(t.Context(), func(q sqldb.Querier) error {
		n, err := q.Exec(t.Context(), `UPDATE sample SET number = 1 WHERE id > $1`, 1)
		testenv.Equal(t, "rows changed", 2, n)
		return errors.Join(err, stop(q))
	}))
}
