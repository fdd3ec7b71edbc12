package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// fakeStore imports orders in memory and records the batches.
type fakeStore struct {
	batches    [][]string // references
	content    map[string][32]byte
	references []string // of all orders, in the order of the batches
}

func (s *fakeStore) add(_ context.Context, _ order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
	if s.content == nil {
		s.content = map[string][32]byte{}
	}
	results := make([]order.ImportResult, len(batch))
	var references []string
	for i, in := range batch {
		reference := in.Order.Reference
		references = append(references, reference)
		digest, exists := s.content[reference]
		switch {
		case in.Order.MerchantID != ingesttest.MerchantID:
			results[i] = order.ImportResult{Status: order.Invalid, Reason: "merchantId: no such merchant"}
		case !exists:
			s.content[reference] = in.Digest
			results[i].Status = order.Created
		case digest == in.Digest:
			results[i].Status = order.Unchanged
		default:
			results[i] = order.ImportResult{Status: order.Conflict, Reason: "reference: taken by " + reference}
		}
	}
	s.batches = append(s.batches, references)
	s.references = append(s.references, references...)
	return results, nil
}

// report records the results of an import.
type report struct {
	refused []string
	texts   []string // of the refused lines
	bytes   int64
}

func (r *report) done(batch []ingest.Line, read int64) error {
	for _, line := range batch {
		if line.Problem != "" {
			r.refused, r.texts = append(r.refused, fmt.Sprintf("%d: %s", line.Number, line.Problem)), append(r.texts, string(line.Text))
		}
	}
	r.bytes = read
	return nil
}

// counts are the results of an import, in lines.
type counts struct{ created, unchanged, conflicting, invalid int }

// run imports an input. It fails if the tally is not that of the lines that it reports, or if
// an order comes unprepared.
func (r *report) run(ctx context.Context, t *testing.T, input io.Reader, importBatch ingest.ImportFunc) (counts, error) {
	t.Helper()
	last := 0
	prepare := func(incoming *order.Incoming) { incoming.Prepared = incoming.Order.Reference }
	importPrepared := func(ctx context.Context, caller order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
		for _, incoming := range batch {
			testenv.Equal(t, "what was prepared", any(incoming.Order.Reference), incoming.Prepared)
		}
		return importBatch(ctx, caller, batch)
	}
	tally, err := ingest.Documents(prepare, importPrepared, order.Command()).Run(ctx, input, func(batch []ingest.Line, read int64) error {
		if len(batch) > 0 {
			last = batch[len(batch)-1].Number
		}
		return r.done(batch, read)
	})
	if tally.Refused != int64(len(r.refused)) || tally.Last != last {
		t.Errorf("tally %+v, but %d lines were refused, and line %d is the last", tally, len(r.refused), last)
	}
	of := func(status order.LineStatus) int { return int(tally.Counts[status]) }
	return counts{of(order.Created), of(order.Unchanged), of(order.Conflict), of(order.Invalid)}, err
}

// made caches the documents: to create them costs more than to import them.
var made = sync.OnceValue(func() []string {
	lines := make([]string, 1500)
	for i := range lines {
		lines[i] = string(ingesttest.Document(i+1)) + "\n"
	}
	return lines
})

// documents returns the documents from first to last, one a line.
func documents(first, last int) string { return strings.Join(made()[first-1:last], "") }

func references(first, last int) []string {
	var all []string
	for n := first; n <= last; n++ {
		all = append(all, ingesttest.Reference(n))
	}
	return all
}

func TestImport(t *testing.T) {
	t.Parallel()
	var s fakeStore
	var reported report
	doc := func(n int, mutate ...func(map[string]any)) string { return string(ingesttest.Document(n, mutate...)) }
	input := strings.Join([]string{
		doc(1),
		"",
		"not JSON",
		" \t \r",
		doc(2) + "\r",
		doc(1), // again
		doc(2, func(d map[string]any) { d["total"] = int64(9) }),
		doc(3, func(d map[string]any) { d["merchantId"] = int64(1) }),
		doc(4, func(d map[string]any) { delete(d, "customer") }),
		"{}",
		"  " + doc(5),
		doc(6), // without a line end
	}, "\n")
	got := testenv.Of(reported.run(t.Context(), t, strings.NewReader(input), s.add)).Must(t)
	testenv.Equal(t, "counts", counts{4, 1, 1, 4}, got)
	want := []string{
		"3: not a JSON object: it does not begin with {",
		"7: reference: taken by " + ingesttest.Reference(2),
		"8: merchantId: no such merchant",
		"9: customer: is required",
		"10: " + nothingGiven,
	}
	testenv.Equal(t, "refused", want, reported.refused)
	all := strings.Split(input, "\n")
	testenv.Equal(t, "texts of the refused lines", []string{all[2], all[6], all[7], all[8], all[9]}, reported.texts)
	testenv.Equal(t, "bytes at the end", int64(len(input)), reported.bytes)
}

func TestImportOfNothing(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"", "\n", "\n\r\n \n\t", " "} {
		testenv.Of(new(report).run(t.Context(), t, strings.NewReader(input), nil)).Want(t, input, (counts{}))
	}
}

// TestImportPreservesOrder imports enough lines for many blocks and batches, some
// of them invalid, from different kinds of readers.
func TestImportPreservesOrder(t *testing.T) {
	t.Parallel()
	const orders = 1500
	var input bytes.Buffer
	var wantRefused []string
	line := 0
	for n := 1; n <= orders; n++ {
		input.WriteString(strings.TrimSuffix(documents(n, n), "\n"))
		line++
		if n%3 == 0 {
			input.WriteString("\r\n\n  \n{}\n")
			line += 3
			wantRefused = append(wantRefused, fmt.Sprintf("%d: %s", line, nothingGiven))
		} else {
			input.WriteByte('\n')
		}
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"plain":               func(r io.Reader) io.Reader { return r },
		"half reads":          iotest.HalfReader,
		"error with the data": iotest.DataErrReader,
		"empty reads":         func(r io.Reader) io.Reader { return &hesitant{r: r} },
		"one byte":            func(r io.Reader) io.Reader { return iotest.OneByteReader(io.LimitReader(r, 100_000)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s fakeStore
			var reported report
			got := testenv.Of(reported.run(t.Context(), t, wrap(bytes.NewReader(input.Bytes())), s.add)).Must(t)
			want, wantRefused := references(1, orders), wantRefused
			if name == "one byte" { // the limit truncates the last document
				created := got.created
				want = want[:created]
				wantRefused = append(wantRefused[:created/3:created/3], reported.refused[len(reported.refused)-1])
			}
			testenv.Equal(t, "orders", want, s.references)
			testenv.Equal(t, "refused", wantRefused, reported.refused)
			if got.created != len(want) || got.invalid != len(wantRefused) {
				t.Errorf("counts %+v", got)
			}
			for _, batch := range s.batches {
				if len(batch) > 500 {
					t.Errorf("a batch of %d", len(batch))
				}
			}
		})
	}
}

// hesitant returns 0, nil at every other Read.
type hesitant struct {
	r     io.Reader
	empty bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	h.empty = !h.empty
	if h.empty {
		return 0, nil
	}
	return h.r.Read(p[:min(len(p), 10_000)])
}

func TestImportFillsBatches(t *testing.T) {
	t.Parallel()
	const orders = 1500
	var s fakeStore
	testenv.Of(new(report).run(t.Context(), t, strings.NewReader(documents(1, orders)), s.add)).Must(t)
	// The batch sizes depend on timing, but most batches must be large.
	if len(s.batches) > orders/20 {
		t.Errorf("%d batches of %d orders", len(s.batches), orders)
	}
}

// Proves decision 7 (size).
func TestImportOfLongLines(t *testing.T) {
	t.Parallel()
	pad := func(document []byte, length int) string {
		return string(document) + strings.Repeat(" ", length-len(document))
	}
	tooLong := strings.Repeat("x", ingest.MaxLineLength+1)
	input := strings.Join([]string{
		string(ingesttest.Document(1)),
		tooLong,
		pad(ingesttest.Document(2), ingest.MaxLineLength),
		pad(ingesttest.Document(3), ingest.MaxLineLength) + "\r",
		pad(ingesttest.Document(4), ingest.MaxLineLength+1),
		strings.Repeat(tooLong, 3),
		string(ingesttest.Document(5)),
		"{}",
		tooLong,
	}, "\n")
	for name, r := range map[string]io.Reader{
		"plain": strings.NewReader(input), "small pieces": &hesitant{r: strings.NewReader(input)},
	} {
		var s fakeStore
		var reported report
		got, err := reported.run(t.Context(), t, r, s.add)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const problem = ": the line is longer than 4 MiB"
		want := []string{"2" + problem, "5" + problem, "6" + problem, "8: " + nothingGiven, "9" + problem}
		testenv.Equal(t, fmt.Sprintf("%s: refused", name), want, reported.refused)
		testenv.Equal(t, fmt.Sprintf("%s: texts of the refused lines", name), []string{"", "", "", "{}", ""}, reported.texts)
		wantOrders := slices.Concat(references(1, 3), references(5, 5))
		if diff := cmp.Diff(wantOrders, s.references); diff != "" || got.created != 4 || got.invalid != 5 {
			t.Errorf("%s: counts %+v, orders (-want +got):\n%s", name, got, diff)
		}
	}
}

// repeating is an endless sequence of one byte.
type repeating byte

func (b repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// TestImportMemoryIsBounded is not parallel: it measures the allocations of the
// whole process.
func TestImportMemoryIsBounded(t *testing.T) {
	const length = 128 << 20
	line := io.LimitReader(repeating('x'), length)
	r := io.MultiReader(line, strings.NewReader("\n"+documents(1, 1)))
	var s fakeStore
	var reported report
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := reported.run(t.Context(), t, r, s.add)
	runtime.ReadMemStats(&after)
	if err != nil || got != (counts{created: 1, invalid: 1}) || len(reported.refused) != 1 {
		t.Errorf("counts %+v, refused %q, error %v", got, reported.refused, err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
		t.Errorf("%d MiB allocated for a line of %d MiB", allocated>>20, length>>20)
	}
}

func TestImportStopsAtReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk failure")
	input := documents(1, 700) + `{"merchantId":355,"refer`
	var s fakeStore
	r := io.MultiReader(strings.NewReader(input), iotest.ErrReader(broken))
	got, err := new(report).run(t.Context(), t, r, s.add)
	if !errors.Is(err, broken) || got != (counts{created: 700}) {
		t.Errorf("counts %+v, error %v", got, err)
	}
	testenv.Equal(t, "orders", references(1, 700), s.references)
	got, err = new(report).run(t.Context(), t, emptyReader{}, s.add)
	if !errors.Is(err, io.ErrNoProgress) || got != (counts{}) {
		t.Errorf("a reader without end: counts %+v, error %v", got, err)
	}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

func TestImportStopsAtImportError(t *testing.T) {
	t.Parallel()
	full := errors.New("database is full")
	var s fakeStore
	calls := 0
	add := func(ctx context.Context, caller order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
		if calls++; calls == 3 {
			return nil, full
		}
		return s.add(ctx, caller, batch)
	}
	got, err := new(report).run(t.Context(), t, strings.NewReader(documents(1, 1500)), add)
	if !errors.Is(err, full) || calls != 3 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	if got != (counts{created: len(s.references)}) || got.created == 0 {
		t.Errorf("counts %+v of %d orders", got, len(s.references))
	}
	few := func(context.Context, order.Caller, []order.Incoming) ([]order.ImportResult, error) { return nil, nil }
	if _, err := new(report).run(t.Context(), t, strings.NewReader(documents(1, 1)), few); err == nil {
		t.Error("missing results are not detected")
	}
}
