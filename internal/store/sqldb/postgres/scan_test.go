package postgres

import (
	"database/sql"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
)

// TestScan reads values of columns that only PostgreSQL has into all kinds of variables.
// What a variable cannot hold is an error and no other value.
func TestScan(t *testing.T) {
	t.Parallel()
	db := openTest(t, pgtest.Database(t))
	var whole int64
	var text string
	var state order.State
	var truth bool
	var bytes []byte
	raw := sql.RawBytes("old")
	var anything any
	for _, test := range []struct {
		text string
		dest any
		into any // the variable of dest
		want any // nil: an error
	}{
		{`9007199254740992::bigint`, &whole, &whole, int64(1 << 53)},
		{`-3::integer`, &whole, &whole, int64(-3)},
		{`-3::smallint`, &whole, &whole, int64(-3)},
		{`COUNT(*)`, &whole, &whole, int64(1)},
		{`SUM(2::bigint)::bigint`, &whole, &whole, int64(2)},
		{`'on'::varchar`, &text, &text, "on"},
		{`'name'::name`, &text, &text, "name"},
		{`2::smallint`, sqldb.Int(&state), &state, order.State(2)},
		{`-1::bigint`, sqldb.Int(&state), &state, nil},
		{`1000::bigint`, sqldb.Int(&state), &state, nil},
		{`true`, &truth, &truth, true},
		{`'\x00ff'::bytea`, &bytes, &bytes, []byte{0, 255}},
		{`''::bytea`, &raw, &raw, sql.RawBytes{}},
		{`7::integer`, &anything, &anything, int64(7)},
		{`'x'::text`, &anything, &anything, "x"},
	} {
		err := db.QueryRow(t.Context(), `SELECT `+test.text, nil, test.dest)
		if test.want == nil {
			if err == nil {
				t.Errorf("%s was read into a %T without an error", test.text, test.into)
			}
			continue
		}
		if diff := cmp.Diff(test.want, reflect.ValueOf(test.into).Elem().Interface()); diff != "" || err != nil {
			t.Errorf("%s: %v, read (-want +got):\n%s", test.text, err, diff)
		}
	}
}
