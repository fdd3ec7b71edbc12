package postgres

import (
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestScan reads values of all kinds of columns into all kinds of
// variables. What a variable cannot hold is an error and no other value.
func TestScan(t *testing.T) {
	t.Parallel()
	db := openTest(t, pgtest.Database(t))
	var whole int64
	var text string
	var state order.State
	var truth bool
	var bytes []byte
	var raw sql.RawBytes
	var wholeOrNot sql.NullInt64
	var textOrNot sql.NullString
	var anything any
	for _, test := range []struct {
		text string
		into any
		want any // nil: an error
	}{
		{`9007199254740992::bigint`, &whole, int64(1 << 53)},
		{`-3::integer`, &whole, int64(-3)},
		{`-3::smallint`, &whole, int64(-3)},
		{`COUNT(*)`, &whole, int64(1)},
		{`SUM(2::bigint)::bigint`, &whole, int64(2)},
		{`NULL::bigint`, &whole, nil},
		{`'x'::text`, &whole, nil},
		{`'Μαρία'::text`, &text, "Μαρία"},
		{`''::text`, &text, ""},
		{`NULL::text`, &text, nil},
		{`'on'::varchar`, &text, "on"},
		{`'name'::name`, &text, "name"},
		{`2::bigint`, sqldb.Int(&state), order.State(2)},
		{`2::smallint`, sqldb.Int(&state), order.State(2)},
		{`-1::bigint`, sqldb.Int(&state), nil},
		{`1000::bigint`, sqldb.Int(&state), nil},
		{`NULL::bigint`, sqldb.Int(&state), nil},
		{`true`, &truth, true},
		{`'\x00ff'::bytea`, &bytes, []byte{0, 255}},
		{`'\x00ff'::bytea`, &raw, sql.RawBytes{0, 255}},
		{`''::bytea`, &raw, sql.RawBytes{}},
		{`7::bigint`, &wholeOrNot, sql.NullInt64{Int64: 7, Valid: true}},
		{`NULL::bigint`, &wholeOrNot, sql.NullInt64{}},
		{`'x'::text`, &wholeOrNot, nil},
		{`''::text`, &textOrNot, sql.NullString{Valid: true}},
		{`NULL::text`, &textOrNot, sql.NullString{}},
		{`7::integer`, &anything, int64(7)},
		{`'x'::text`, &anything, "x"},
		{`'\x01'::bytea`, &anything, []byte{1}},
		{`NULL::bytea`, &anything, nil},
	} {
		err := db.QueryRow(t.Context(), `SELECT `+test.text, nil, test.into)
		if test.want == nil && test.into != any(&anything) {
			if err == nil {
				t.Errorf("%s was read into a %T without an error", test.text, test.into)
			}
			continue
		}
		if diff := cmp.Diff(test.want, valueOf(test.into, state)); diff != "" || err != nil {
			t.Errorf("%s: %v, read (-want +got):\n%s", test.text, err, diff)
		}
	}
	if err := db.QueryRow(t.Context(), `SELECT 1::bigint, 2::bigint`, nil, &whole); err == nil {
		t.Error("two columns were read into one variable")
	}
	testenv.Equal(t, "no row", sql.ErrNoRows, db.QueryRow(t.Context(), `SELECT 1::bigint WHERE false`, nil, &whole))
}

// valueOf returns what a pointer of TestScan points to.
func valueOf(pointer any, state order.State) any {
	switch variable := pointer.(type) {
	case *int64:
		return *variable
	case *string:
		return *variable
	case sqldb.IntScanner:
		return state
	case *bool:
		return *variable
	case *[]byte:
		return *variable
	case *sql.RawBytes:
		return *variable
	case *sql.NullInt64:
		return *variable
	case *sql.NullString:
		return *variable
	case *any:
		return *variable
	}
	return nil
}
