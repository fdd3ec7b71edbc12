package console_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

const importOrders, importChanges = "/console/operator/imports/orders", "/console/operator/imports/changes"

// sendFile sends a form with a file, without one if content is nil.
func (b *browser) sendFile(path string, content []byte) page {
	b.s.T.Helper()
	name := ""
	if content != nil {
		name = "orders.jsonl"
	}
	body, contentType := multipartForm(b.s.T, nil, name, string(content))
	return b.send(http.MethodPost, path, contentType, bytes.NewReader(body))
}

func lines(documents ...[]byte) []byte { return append(bytes.Join(documents, []byte("\n")), '\n') }

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = w.Write(content)
	testenv.NoError(t, w.Close())
	return compressed.Bytes()
}

var refusedFile = regexp.MustCompile(`href="data:application/x-ndjson;base64,([^"]*)"`)

// lineCounts returns the part of a page that counts lines, of pairs of a status and a
// number.
func lineCounts(pairs ...any) string {
	var list strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		class := "tile"
		if pairs[i+1] == 0 {
			class = "tile zero"
		}
		fmt.Fprintf(&list, `<li><span class="%s"><span class="count">%d</span> %s</span></li>`, class, pairs[i+1], pairs[i])
	}
	return `<ul class="counts">` + list.String() + `</ul>`
}

// TestImportPage imports files with orders: plain and compressed, twice, with refused
// lines, and files that are none.
func TestImportPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.operator(order.ScopeOrdersIngest)
	if got := b.get("/console/operator/imports"); got.Status != http.StatusOK || strings.Contains(got.Body, importChanges) {
		t.Errorf("%d: a token that cannot change orders gets %s", got.Status, got.Body)
	}
	good, hostile := newOrder(1, "GOOD"), []byte(`{"reference":"BAD-1","<script>alert(1)</script>":1}`)
	noTotal := []byte(`{"merchantId":355,"reference":"BAD-2","total":"x"}`)
	file := lines(good, hostile, []byte("<b>"), noTotal)
	got := b.sendFile(importOrders, file)
	got.WantText(t, http.StatusOK, lineCounts("created", 1, "unchanged", 0, "deleted before", 0, "conflicting", 0, "invalid", 3), "3 lines were refused", "BAD-1", "BAD-2", "<code>total</code>", "must be a whole number", "not a JSON object")
	checkPage(t, "imports", got)
	testenv.Lacks(t, "refused lines", got.Body, "<script>alert")
	found := refusedFile.FindStringSubmatch(strings.ReplaceAll(got.Body, "&#43;", "+"))
	if found == nil {
		t.Fatal("no file of refused lines")
	}
	testenv.Equal(t, "the file of refused lines", lines(hostile, []byte("<b>"), noTotal), testenv.Of(base64.StdEncoding.DecodeString(found[1])).Must(t))
	testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("GOOD"))).Must(t)
	b.sendFile(importOrders, gzipped(t, lines(good, newOrder(2, "SECOND")))).WantText(t, http.StatusOK, "Every line is done",
		lineCounts("created", 1, "unchanged", 1, "deleted before", 0, "conflicting", 0, "invalid", 0))
	testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("SECOND"))).Must(t)
	testenv.Of(s.Orders.ChangeOrder(t.Context(), order.Command(), ours, order.ByReference("GOOD"), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})).Must(s.T)
	testenv.Of(s.Retention.DeleteOldOrders(t.Context(), s.Now().AddDate(10, 0, 0))).Must(s.T)
	b.sendFile(importOrders, lines(good)).WantText(t, http.StatusOK, "Every line is done",
		lineCounts("created", 0, "unchanged", 0, "deleted before", 1, "conflicting", 0, "invalid", 0))
	for problem, content := range map[string][]byte{
		"Choose a file": nil, "The file has no lines": {'\n'}, "The file cannot be read": []byte("\x1f\x8bnot gzip"),
	} {
		b.sendFile(importOrders, content).WantText(t, http.StatusUnprocessableEntity, problem, `aria-invalid="true"`)
	}
	b.post(importOrders, nil).WantText(t, http.StatusBadRequest)
	b.sendFile(importChanges, []byte("{}")).WantText(t, http.StatusForbidden)
}

// TestImportIsBounded imports a file most of whose lines are refused, and one that ends
// in the middle of its compressed content: the page shows some lines and says how many
// more there are, and where the file ended.
func TestImportIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.operator(order.ScopeOrdersIngest)
	long := []byte(`{"x":"` + strings.Repeat("y", 10_000) + `"}`)
	got := b.sendFile(importOrders, bytes.Repeat(append(long, '\n'), 300))
	got.WantText(t, http.StatusOK, "300 lines were refused", "200 more lines", "Save 104 refused lines")
	if len(got.Body) > 2<<20 {
		t.Errorf("the page has %d bytes", len(got.Body))
	}
	// Line 105 would not fit; the file has the lines before it, not a shorter one after it.
	got = b.sendFile(importOrders, append(bytes.Repeat(append(long, '\n'), 105), "{}\n"...))
	got.WantText(t, http.StatusOK, "106 lines were refused", "Save 104 refused lines")
	var random bytes.Buffer // content that gzip cannot compress to less than its blocks
	for i := range 3000 {
		fmt.Fprintf(&random, "{\"%x\":1}\n", i*7919)
	}
	cut := gzipped(t, random.Bytes())
	b.sendFile(importOrders, cut[:len(cut)/2]).WantText(t, http.StatusOK, "did not arrive completely, or is damaged. Lines up to")
}

// TestImportChangesPage changes orders with a file.
func TestImportChangesPage(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "SECOND"))
	b := s.operator(order.ScopeOrdersTransition)
	file := lines(
		[]byte(`{"merchantId":355,"reference":"FIRST","state":"in-processing","carrier":{"trackingCodes":"77"}}`),
		[]byte(`{"merchantId":355,"reference":"SECOND","state":"completed"}`),
		[]byte(`{"merchantId":355,"reference":"NONE","state":"completed"}`),
		[]byte(`{"merchantId":355,"reference":"SECOND","state":"canceled","reason":"Not Good"}`),
		[]byte(`{"merchantId":0}`),
	)
	b.sendFile(importChanges, file).WantText(t, http.StatusOK, "<title>Error: Imports", "4 lines were refused",
		lineCounts("changed", 1, "unchanged", 0, "not allowed for the order", 1, "not found", 1, "invalid", 2),
		"cannot move to completed", "no such order", "reason must be", "merchantId must be")
	b.header.Set("Accept-Language", "el")
	b.sendFile(importChanges, file).WantText(t, http.StatusOK, lineCounts("άλλαξαν", 0, "αμετάβλητη", 1, "δεν επιτρέπεται για την παραγγελία", 1, "δεν βρέθηκε", 1, "μη έγκυρες", 2))
	o, err := s.Orders.Get(t.Context(), ours, order.ByReference("FIRST"))
	if testenv.NoError(s.T, err); o.State != order.InProcessing || o.Carrier.TrackingCodes != "77" {
		t.Errorf("the order is %s with %q", o.State, o.Carrier.TrackingCodes)
	}
}

// TestImportIsCutByStop stops the server during an import: the page says which lines are
// done.
func TestImportIsCutByStop(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.operator(order.ScopeOrdersIngest)
	body, arriving := io.Pipe()
	form := multipart.NewWriter(arriving)
	ended := make(chan page, 1)
	go func() { ended <- b.send(http.MethodPost, importOrders, form.FormDataContentType(), body) }()
	part := testenv.Of(form.CreateFormFile("file", "orders.jsonl")).Must(s.T)
	testenv.Of(part.Write(lines(newOrder(1, "DONE")))).Must(s.T)
	testenv.Eventually(s.T, "the order is imported", func() bool {
		_, err := s.Orders.Get(t.Context(), ours, order.ByReference("DONE"))
		return err == nil
	})
	s.Stop()
	(<-ended).WantText(t, http.StatusOK, "The service is stopping. Lines up to 1 are done.", lineCounts("created", 1, "unchanged", 0, "deleted before", 0, "conflicting", 0, "invalid", 0))
}
