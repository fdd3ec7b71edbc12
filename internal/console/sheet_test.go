package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// FuzzSheet writes any text into a sheet: the workbook stays readable, and no text becomes
// a formula or another cell.
func FuzzSheet(f *testing.F) {
	for _, text := range []string{"=1+1", `"a";=b`, "a\r\n@b\t+c", "</t></is></c><c><f>1</f>", "_x003D_1", "\x00\xff\ufffe", strings.Repeat("Ω", 20_000), "  "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var file bytes.Buffer
		s := newSheetWriter(&file, []string{"A", "B"})
		s.beginRow()
		s.text(text)
		s.text("next")
		s.endRow()
		testenv.NoError(t, s.close())
		row := testenv.Sheet(t, file.Bytes(), "1")[1]
		odd := func(c rune) bool { return !unicode.IsPrint(c) || c == '_' || c == utf8.RuneError }
		if len(row) != 2 || row[1] != "next" || row[0] != text && len(text) <= maxCellText && !strings.ContainsFunc(text, odd) {
			t.Errorf("%.100q became %.100q", text, row)
		}
	})
}

// TestSheetValues checks how amounts and times are written, also when the clocks change,
// and that a full sheet is followed by another.
func TestSheetValues(t *testing.T) {
	t.Parallel()
	athens := testenv.Of(order.LoadTimeZone("Europe/Athens")).Must(t)
	var file bytes.Buffer
	s := newSheetWriter(&file, []string{"value"})
	s.maxRows = 5
	for _, write := range []func(){
		func() { s.amount(-5, "EUR") }, func() { s.amount(1790, "JPY") }, func() { s.amount(1, "KWD") },
		func() { s.moment(time.Date(2026, 3, 29, 0, 59, 59, 0, time.UTC), athens) }, // 02:59:59, then 04:00:00
		func() { s.moment(time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), athens) },
		func() { s.moment(time.Date(1899, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC) },
		func() { s.moment(time.Time{}, athens) },
	} {
		s.beginRow()
		write()
		s.endRow()
	}
	testenv.NoError(t, s.close())
	var got []string
	for _, sheet := range []string{"1", "2"} {
		for _, row := range testenv.Sheet(t, file.Bytes(), sheet) {
			got = append(got, strings.Join(row, " "))
		}
	}
	testenv.Equal(t, "values", []string{"value", "-0.05", "1790", "0.001", "46110.12498842593", "value", "46110.16666666667", "1899-01-01 00:00:00", ""}, got)
}
