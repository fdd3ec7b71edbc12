package console

import (
	"bytes"
	"io"
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
	athens, err := order.LoadTimeZone("Europe/Athens")
	testenv.NoError(t, err)
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

// BenchmarkSheet writes 100,000 orders.
func BenchmarkSheet(b *testing.B) {
	o := order.Order{Reference: "SF-2026-0000017", State: order.Registered, Currency: "EUR", CreatedAt: time.Unix(1_795_000_000, 0), Subtotal: 5990, Total: 6480, PaymentName: "card",
		Customer: order.Customer{FirstName: "Μαρία", LastName: "Παπαδοπούλου", Email: "maria@example.com"}, InvoiceDetails: &order.InvoiceDetails{VATNumber: "090000001"}}
	b.ReportAllocs()
	began := testenv.ProcessorTime(b)
	for b.Loop() {
		e := sheetExport{words: language{code: "el", zone: time.UTC}, sheetWriter: newSheetWriter(io.Discard, orderHeadings)}
		for range 100_000 {
			e.orderRow(&o)
		}
		testenv.NoError(b, e.close())
	}
	b.ReportMetric(float64((testenv.ProcessorTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms")
}
