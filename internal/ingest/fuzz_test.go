package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func FuzzParse(f *testing.F) {
	example := testenv.Of(os.ReadFile("testdata/decision7.json")).Must(f)
	f.Add(example)
	f.Add(ingesttest.Document(1))
	f.Add(ingesttest.Document(4))
	for _, seed := range []string{
		minimal, "", "null", "{}", "[]", `{"lineItems":[null]}`, minimal + "x",
		adding(`"orderId":1,"updatedAt":"0001-01-01T00:00:00Z"`), adding(`"notes":"\ud800\u0000"`),
		inLine(`"extendedAttributes":[{"b":1e2,"a":"\u0041"},-0,[[]]]`),
		inLine(`"pickupDate":"0000-01-01","totalPrice":200`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":"Y","article39Valid":null}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		given := bytes.Clone(document)
		in, err := ingest.Parse(document)
		if !bytes.Equal(given, document) {
			t.Fatal("the document was changed")
		}
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkOrder(t, &in.Order)
		for _, spelling := range [][]byte{document, compact(t, document), sorted(t, document)} {
			again, err := ingest.Parse(spelling)
			if err != nil {
				t.Fatalf("another spelling is refused: %v\n%s", err, spelling)
			}
			if again.Digest != in.Digest || again.Order.LegacyID != in.Order.LegacyID {
				t.Fatalf("another spelling is other content:\n%s", spelling)
			}
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	refused, ok := errors.AsType[*ingest.DocumentError](err)
	if !ok || refused.Problem == "" || !utf8.ValidString(err.Error()) || len(err.Error()) > 400 {
		t.Fatalf("a %T: %q", err, err)
	}
}

// checkOrder fails the test if the order is not valid.
func checkOrder(t *testing.T, o *order.Order) {
	t.Helper()
	sum := int64(0)
	for _, line := range o.LineItems {
		if line.Quantity < 1 || line.UnitPrice < 0 || line.TotalPrice != line.UnitPrice*line.Quantity {
			t.Fatalf("line %+v", line)
		}
		if kind := jsontext.Value(line.ExtendedAttributes).Kind(); kind != '[' {
			t.Fatalf("extended attributes %q", line.ExtendedAttributes)
		}
		sum += line.TotalPrice
	}
	switch {
	case o.MerchantID < 1, o.LegacyID < 0, !order.ValidReference(o.Reference), !o.State.Valid(), !order.ValidCurrency(o.Currency),
		o.CreatedAt.IsZero(), o.CreatedAt.Nanosecond() != 0, len(o.LineItems) == 0, sum < 0, o.Subtotal != sum,
		o.Discount < 0, o.Total < 0, o.Customer.UserID < 0:
		t.Fatalf("order %+v", o)
	}
}

func compact(t *testing.T, document []byte) []byte {
	t.Helper()
	value := jsontext.Value(document).Clone()
	testenv.NoError(t, value.Compact())
	return value
}

// sorted returns a document with sorted keys and without escapes.
func sorted(t *testing.T, document []byte) []byte {
	t.Helper()
	value := jsontext.Value(document).Clone()
	testenv.NoError(t, value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)))
	return value
}

// FuzzAnswers compares answers with their decoding by encoding/json.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"orderReference":"R-1","answer":"accept"}`, `{"orderReference":"R-1","answer":"reject","reason":"damaged","ifMatch":"\"1-1\""}`,
		`{"orderReference":"R-1","answer":"reject","reason":null,"ifMatch":null}`, `{"answer":"accept","Answer":"reject"}`,
		`{"answer":"\ud800"}`, "{\"answer\":\"\xff\"}", "{}", "[]", "null", "{", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := ingest.ParseAnswer(line)
		if err != nil {
			if text := err.Error(); text == "" || !utf8.ValidString(text) || len(text) > 400 {
				t.Fatalf("%q: %q", line, text)
			}
			return
		}
		var want struct {
			OrderReference, Answer string
			Reason                 order.Reason
			IfMatch                *string
		}
		testenv.NoError(t, json.Unmarshal(line, &want))
		to := map[string]order.State{"accept": order.InProcessing, "reject": order.RejectedByMerchant}[want.Answer]
		if got.Reference != want.OrderReference || got.To != to || to == 0 || got.Reason != want.Reason || (got.IfMatch == nil) != (want.IfMatch == nil) ||
			!order.ValidReference(got.Reference) || !got.Reason.Valid() || got.Reason != "" && to == order.InProcessing {
			t.Fatalf("%q: %+v", line, got)
		}
	})
}

// FuzzImport compares an import, read in pieces of any size, with Parse of each
// line.
func FuzzImport(f *testing.F) {
	one, two := string(ingesttest.Document(1)), string(ingesttest.Document(2))
	f.Add([]byte(one+"\n"+two+"\n"), 1000)
	f.Add([]byte(one+"\r\n\r\n \t\n{}\n"+two), 1)
	f.Add([]byte("\n\n\n"), 2)
	f.Add([]byte("x\ny\n\x00\n\xff"), 3)
	f.Add([]byte("\r"), 1)
	f.Fuzz(func(t *testing.T, input []byte, piece int) {
		var wantRefused, wantImported []string
		for i, line := range bytes.Split(input, []byte{'\n'}) {
			if len(bytes.Trim(line, " \t\r")) == 0 {
				continue
			}
			in, err := ingest.Parse(bytes.TrimSuffix(line, []byte{'\r'}))
			if err != nil {
				wantRefused = append(wantRefused, fmt.Sprintf("%d: %v", i+1, err))
				continue
			}
			wantImported = append(wantImported, in.Order.Reference)
		}
		var imported []string
		var reported report
		add := func(_ context.Context, _ order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
			for _, in := range batch {
				imported = append(imported, in.Order.Reference)
			}
			return slices.Repeat([]order.ImportResult{{Status: order.Created}}, len(batch)), nil
		}
		pieces := piecewise{r: bytes.NewReader(input), max: 1 + piece&0xfff}
		got, err := reported.run(t.Context(), t, pieces, add)
		if err != nil || got != (counts{created: len(wantImported), invalid: len(wantRefused)}) {
			t.Fatalf("counts %+v, error %v", got, err)
		}
		if diff := cmp.Diff(wantImported, imported); diff != "" {
			t.Fatalf("imported (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantRefused, reported.refused); diff != "" {
			t.Fatalf("refused (-want +got):\n%s", diff)
		}
		if reported.bytes != int64(len(input)) {
			t.Fatalf("progress ends at %d of %d bytes", reported.bytes, len(input))
		}
	})
}

// piecewise returns at most max bytes at a time.
type piecewise struct {
	r   *bytes.Reader
	max int
}

func (p piecewise) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.max)]) }
