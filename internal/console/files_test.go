package console_test

import (
	"bytes"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// upload sends a form with files, names and contents in turn, as the page of an order
// does.
func (b *browser) upload(page string, files ...string) page {
	b.s.T.Helper()
	key := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if got := b.get(page); strings.Contains(got.Body, `action="`+page+`/files"`) {
		key = got.form(b.s.T, page+"/files").Get("key")
	}
	return b.sendFiles(page+"/files", key, "", files...)
}

// sendFiles sends a form with a key and files to a path. It asks for the next order without an
// invoice if next is not empty.
func (b *browser) sendFiles(path, key, next string, files ...string) page {
	b.s.T.Helper()
	body, contentType := multipartForm(b.s.T, url.Values{"key": {key}, "next": {next}}, files...)
	return b.send(http.MethodPost, path, contentType, bytes.NewReader(body))
}

// multipartForm returns a form with fields, and files with names and contents in turn, and its type.
func multipartForm(t testing.TB, fields url.Values, files ...string) (body []byte, contentType string) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for name := range fields {
		testenv.NoError(t, w.WriteField(name, fields.Get(name)))
	}
	for i := 0; i < len(files); i += 2 {
		part := testenv.Of(w.CreateFormFile("file", files[i])).Must(t)
		testenv.Of(part.Write([]byte(files[i+1]))).Must(t)
	}
	testenv.NoError(t, w.Close())
	return form.Bytes(), w.FormDataContentType()
}

// TestUploadInvoiceData checks the fields about a file, which are of one file.
func TestUploadInvoiceData(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	send := func(fields string, files ...string) page {
		values := testenv.Of(url.ParseQuery(fields)).Must(t)
		values["key"] = b.get(orderPage).form(t, orderPage+"/files")["key"]
		body, contentType := multipartForm(t, values, files...)
		return b.send(http.MethodPost, orderPage+"/files", contentType, bytes.NewReader(body))
	}
	send("mark=4OO&kind=invoice", "a.pdf", "1").WantText(t, http.StatusBadRequest, "These files were not stored", "up to 20 digits",
		`<details open><summary>Number and MARK`, `<option value="invoice" selected>`, `name="mark" value="4OO"`)
	const all = "kind=credit-note&number=INV-1042&mark=400+001+234567890&link=https%3A%2F%2Fprovider.example%2F7%3F%22"
	send(all, "a.exe", "1").WantText(t, http.StatusBadRequest, `name="number" value="INV-1042"`, `name="link" value="https://provider.example/7?&#34;"`)
	got := send(all, "a.pdf", "1", "b.pdf", "2")
	testenv.Lacks(t, "form after the upload", got.Body, `value="INV-1042"`)
	got.WantText(t, http.StatusBadRequest, "<bdi>b.pdf</bdi>: Number and MARK are of one file",
		` · Credit note · Invoice number <bdi>INV-1042</bdi> · MARK 400001234567890 · <a href="https://provider.example/7?%22" target="_blank" rel="noopener noreferrer">provider.example</a>`)
	testenv.Equal(t, "without fields", orderPage+"?done=uploaded", send("kind=&number=+&mark=&link=", "b.pdf", "2").location())
	rows := testenv.Sheet(t, []byte(b.get("/console/orders.xlsx").Body), "1")
	testenv.Equal(t, "workbook", []string{"2", "Credit note", "INV-1042", "400001234567890"}, rows[1][len(rows[1])-4:])
}

func TestUpload(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	b.get(orderPage).WantText(t, http.StatusOK, "up to 4\u00a0MB each", "3 more files are possible", `accept=".pdf,.png,.jpg,.jpeg"`)
	big := strings.Repeat("x", order.MaxInvoiceSize+1)
	for name, files := range map[string][]string{
		"The file is not a PDF, PNG or JPEG.": {"virus.exe", "x"}, "The file is larger than 4 MB.": {"big.pdf", big}, "Choose a file first.": nil,
		"larger than 13 MB": {"1.pdf", big, "2.pdf", big, "3.pdf", big, "4.pdf", big},
	} {
		b.upload(orderPage, files...).WantText(t, http.StatusBadRequest, "These files were not stored", name)
	}
	// Of three files one is refused; the other two are stored.
	b.upload(orderPage, "Τιμολόγιο 1.pdf", "one", "x.txt", "two", "<b>.png", "one").WantText(t, http.StatusBadRequest,
		"<bdi>x.txt</bdi>", "&lt;b&gt;.png", "1 more file is possible")
	testenv.Equal(t, "upload", orderPage+"?done=uploaded", b.upload(orderPage, "last.jpg", "four").location())
	b.get(orderPage).WantText(t, http.StatusOK, "which is the maximum", "File added:")
	b.upload(orderPage, "fifth.pdf", "five").WantText(t, http.StatusBadRequest, "at most 3 files")

	got := b.get(orderPage + "/files/%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF%201.pdf")
	got.WantText(t, http.StatusOK, "one")
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store",
		"Content-Disposition": "inline; filename*=utf-8''%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF%201.pdf",
	} {
		testenv.Equal(t, name, want, got.Header.Get(name))
	}
	if policy := got.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("Content-Security-Policy: %q", policy)
	}
	b.get(orderPage+"/files/other.pdf").WantText(t, http.StatusNotFound)
}

// TestUploadTwice sends the same form twice, as a double click does.
func TestUploadTwice(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	body, contentType := multipartForm(t, b.get(orderPage).form(t, orderPage+"/files"), "a.pdf", "content")
	for range 2 {
		got := b.send(http.MethodPost, orderPage+"/files", contentType, bytes.NewReader(body))
		testenv.Equal(t, got.Body, http.StatusSeeOther, got.Status)
	}
	o := testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("A-1"))).Must(s.T)
	testenv.Equal(t, "files", 1, len(o.Invoices))
	for _, cut := range []int{10, len(body) / 2, len(body) - 70} {
		b.send(http.MethodPost, orderPage+"/files", contentType, bytes.NewReader(body[:cut])).WantText(t, http.StatusBadRequest)
	}
	b.send(http.MethodPost, orderPage+"/files", "text/plain", strings.NewReader("x")).WantText(t, http.StatusBadRequest)
}

// TestInvoices adds invoices to several orders, which the names of the files say.
// TestOwnNumbers looks up the merchant's own numbers as they are: in the names of files, and
// in the search. Two orders with a number are shown, and never guessed from.
func TestOwnNumbers(t *testing.T) {
	t.Parallel()
	own := []string{"ΠΑΡ 2026 15", "15", "TWICE", "TWICE", "1", "Ταυ-7", "ταυ-7"}
	for n := len(own); n < 40; n++ {
		own = append(own, fmt.Sprintf("1%02d", n))
	}
	s := start(t, newOrders(1, len(own), "N-%d")...)
	for n, number := range own {
		testenv.Of(s.Orders.UpdateMerchantData(t.Context(), order.CommandFor(ours), order.ByReference(fmt.Sprintf("N-%d", n)), order.MerchantDataUpdate{Reference: order.To(&number)}, order.Options[order.WriteResult]{})).Must(s.T)
	}
	b := s.signedIn(s.token)
	for name, want := range map[string]string{
		"ΠΑΡ 2026 15.pdf": "N-0", "15.pdf": "N-1", "1.pdf": "N-4", "Τιμολόγιο 15.pdf": "N-1", "ταυ-7.pdf": "N-6",
		"ΠΑΡ 2026 16.pdf": "", "ΠΑΡ 2027 15.pdf": "", "TWICE.pdf": "", "ΤΑΥ-7.pdf": "", strings.Repeat("15 ", 90) + ".pdf": "", strings.Repeat("a ", 20) + "15.pdf": "",
	} {
		got := html.UnescapeString(b.get("/console/invoices?" + url.Values{"file": {name}}.Encode()).Body)
		if ready := strings.Contains(got, "Ready"); ready != (want != "") || ready && !strings.Contains(got, "/console/orders/"+want+"\"") {
			t.Errorf("%s does not lead to %q alone: %s", name, want, got)
		}
	}
	for query, want := range map[string]string{"q=ΠΑΡ 2026 15": "N-0", "q=TWICE": "N-3", "q=ΠΑΡ 2026 15&state=canceled": ""} {
		got := b.get("/console/orders?" + strings.ReplaceAll(query, " ", "+")).Body
		if shown := strings.Contains(got, `id="order-`+want+`"`); shown != (want != "") {
			t.Errorf("%s does not find %q: %s", query, want, got)
		}
	}
	key := b.get("/console/invoices").form(t, "/console/invoices").Get("key")
	b.sendFiles("/console/invoices", key, "", "15.pdf", "").WantText(t, http.StatusUnprocessableEntity, "The file is empty.")
	b.sendFiles("/console/orders/N-1/files", b.get("/console/orders/N-1").form(t, "/console/orders/N-1/files").Get("key"), "", "15.pdf", "").WantText(t, http.StatusBadRequest, "The file is empty.")
}

func TestInvoices(t *testing.T) {
	t.Parallel()
	accepted := func(document map[string]any) {
		document["state"], document["invoiceDetails"] = "in-processing", map[string]any{"vatNumber": "000000000"}
	}
	var documents [][]byte
	for n := range 6 {
		documents = append(documents, newOrder(n+1, fmt.Sprintf("A-%d", n+1), accepted))
	}
	s := start(t, append(documents, newOrder(9, "THEIRS", ofMerchant(theirs), accepted))...)
	for reference, own := range map[string]string{"A-2": "4711", "A-3": "Άλφα-8", "A-5": "Ταυ-7", "A-6": "ταυ-7"} {
		testenv.Of(s.Orders.UpdateMerchantData(t.Context(), order.CommandFor(ours), order.ByReference(reference), order.MerchantDataUpdate{Reference: order.To(&own)}, order.Options[order.WriteResult]{})).Must(s.T)
	}
	b := s.signedIn(s.token)
	b.get("/console/invoices").WantText(t, http.StatusOK, `href="/console/orders/A-6#files"`)
	next, shown := "/console/invoices?limit=4", ""
	for next != "" {
		got := b.get(next)
		next = ""
		for _, link := range regexp.MustCompile(`(?:rel="next" href="([^"]*)|orders/(A-[0-9])#files)"`).FindAllStringSubmatch(got.Body, -1) {
			next, shown = html.UnescapeString(link[1]), shown+link[2]+" "
		}
	}
	testenv.Equal(t, "orders of the pages", "A-6 A-5 A-4 A-3  A-2 A-1 ", shown)
	b.get("/console/invoices?cursor=x").WantStatus(t, http.StatusBadRequest)
	rows := testenv.Sheet(t, []byte(b.get("/console/invoices.xlsx").Body), "1")
	testenv.Equal(t, "rows of the workbook", []any{7, "A-6", "A-1"}, []any{len(rows), rows[1][0], rows[6][0]})
	row := func(name, reference, result string) string {
		return "(?s)<bdi>" + regexp.QuoteMeta(name) + "</bdi></th>\\s*<td>[^\n]*" + reference + "[^\n]*\\s*<td>[^\n]*" + regexp.QuoteMeta(result)
	}
	names := [][3]string{
		{"A-1.pdf", "/A-1", "Ready"}, {"4711.PDF", "/A-2", "Ready"}, {"Τιμολόγιο_A-3 (1).png", "/A-3", "Ready"}, {"NONE.pdf", "", "No order has this number."},
		{"\u0391\u0301λφα-8.pdf", "/A-3", "Ready"}, {"A-1 A-3.pdf", "", "Several orders match"}, {"ΤΑΥ-7.pdf", "", "Several orders match"}, {"A-4.exe", "", "not a PDF"}, {"THEIRS.pdf", "", "No order has this number."},
		{"<b>.pdf", "", "No order has this number."},
	}
	query := url.Values{}
	var files []string
	for _, name := range names {
		query.Add("file", name[0])
		files = append(files, name[0], "content")
	}
	got := b.get("/console/invoices?" + query.Encode())
	got.Body = html.UnescapeString(got.Body)
	for _, name := range names {
		if !regexp.MustCompile(row(name[0], name[1], name[2])).MatchString(got.Body) {
			t.Errorf("%s does not lead to %s, %s: %s", name[0], name[1], name[2], got.Body)
		}
	}
	key := b.get("/console/invoices").form(t, "/console/invoices").Get("key")
	for range 2 { // a double click
		b.sendFiles("/console/invoices", key, "", append(files, "A-5.pdf", strings.Repeat("x", order.MaxInvoiceSize+1))...).WantText(t, http.StatusUnprocessableEntity,
			"4 invoices are stored", "larger than 4 MB", "&lt;b&gt;.pdf", `href="/console/orders/A-5#files"`)
	}
	for reference, want := range map[string]int{"A-1": 1, "A-2": 1, "A-3": 2, "A-4": 0, "A-5": 0} {
		testenv.Equal(t, "files of "+reference, want, len(testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference(reference))).Must(t).Invoices))
	}
	b.get("/console/invoices?file=A-1.pdf").WantText(t, http.StatusOK, "the order has a file with this name already")
	for n, content := range []string{"content", "corrected"} { // the same file again is not stored twice
		again := b.get("/console/invoices").form(t, "/console/invoices").Get("key")
		testenv.Equal(t, "the form leads to", "/console/invoices?stored=1", b.sendFiles("/console/invoices", again, "", "A-1.pdf", content).location())
		testenv.Equal(t, "files after "+content, n+1, len(testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("A-1"))).Must(t).Invoices))
	}
	b.get("/console/invoices?stored=1").WantText(t, http.StatusOK, "1 invoice is stored.")
	b.sendFiles("/console/invoices", key, "").WantText(t, http.StatusUnprocessableEntity, "Choose a file first.")
	big := strings.Repeat("x", order.MaxInvoiceSize)
	b.sendFiles("/console/invoices", key, "", "1.exe", big, "2.exe", big, "3.exe", big, "4.exe", big).WantText(t, http.StatusUnprocessableEntity, "larger than 13 MB")
	b.get("/console/invoices?"+strings.Repeat("file=x&", 21)).WantText(t, http.StatusBadRequest)

	// Of the selected orders, those without an invoice, and back to the list.
	got = b.get("/console/invoices?order=A-5&order=A-1&order=THEIRS&order=A-4&back=%2Fconsole%2Fnew%3Flimit%3D50")
	got.WantText(t, http.StatusOK, "Selected orders without an invoice", `href="/console/orders/A-5#files"`, `href="/console/orders/A-4#files"`, `href="/console/new?limit=50"`)
	testenv.Lacks(t, "the page", got.Body, "/A-1#", "/A-6#", "/THEIRS#")
	// What is stored leads back to the selection.
	action := "/console/invoices?back=%2Fconsole%2Fnew%3Flimit%3D50&order=A-5&order=A-1&order=THEIRS&order=A-4"
	key = got.form(t, html.EscapeString(action)).Get("key")
	b.sendFiles(action, key, "", "A-5.exe", "content").WantText(t, http.StatusUnprocessableEntity, "Selected orders without an invoice")
	got = b.sendFiles(action, key, "", "A-5.pdf", "content")
	testenv.Equal(t, "the form leads to", action+"&stored=1", got.location())
	got = b.get(got.location())
	got.WantText(t, http.StatusOK, "1 invoice is stored.", "Selected orders without an invoice", `href="/console/orders/A-4#files"`, `href="/console/new?limit=50"`)
	testenv.Lacks(t, "rest of the selection", got.Body, "/A-5#", "/A-6#")
	b.get("/console/invoices?order=A-1&back=%2F%2Fevil.example").WantText(t, http.StatusOK, "Each of the selected orders has an invoice file.", `<p class="crumb"><a href="/console/new"`)
	b.get("/console/invoices?order=A-1&order=x&back=%2Fconsole%2Forders").WantText(t, http.StatusOK, `<p class="crumb"><a href="/console/orders"`)
	// From one order without an invoice to the next one.
	for _, step := range [][2]string{{"A-5", "/console/orders/A-4"}, {"A-4", "/console/orders/A-6"}, {"A-6", "/console/invoices"}} {
		got := b.sendFiles("/console/orders/"+step[0]+"/files", key, "1", "a.pdf", "content")
		testenv.Equal(t, "the next order after "+step[0], step[1]+"?done=uploaded&was="+step[0]+"#files", got.location())
	}
	b.get("/console/invoices?done=uploaded&was=A-4").WantText(t, http.StatusOK, "<bdi>A-4</bdi></a>: The files are stored.", "Every order whose customer asked for an invoice has a file.")
}

var withdrawLink = regexp.MustCompile(`href="(/console/orders/A-1/withdraw/[0-9]+)"`)

func TestWithdraw(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	b.upload(orderPage, "a.pdf", "content")
	link := withdrawLink.FindStringSubmatch(b.get(orderPage).Body)
	if link == nil {
		t.Fatal("the page does not offer to withdraw the file")
	}
	question := b.get(link[1])
	question.WantText(t, http.StatusOK, "Withdraw this file?", "a.pdf", "7")
	form := question.form(t, link[1])
	for range 2 {
		testenv.Equal(t, "withdraw", orderPage+"?done=withdrawn", b.post(link[1], form).location())
	}
	b.get(orderPage).WantText(t, http.StatusOK, "No files yet.", "File withdrawn:")
	b.get(link[1]).WantText(t, http.StatusNotFound, "withdrawn already")
	form.Set("key", strings.Repeat("B", 26))
	b.post(link[1], form).WantText(t, http.StatusConflict, "withdrawn already")
	b.get(orderPage+"/files/a.pdf").WantText(t, http.StatusNotFound)
	for _, id := range []string{"0", "x", fmt.Sprint(uint64(1) << 63)} {
		if got := b.post(orderPage+"/withdraw/"+id, form); got.Status != http.StatusNotFound && got.Status != http.StatusConflict {
			t.Errorf("id %s: %d", id, got.Status)
		}
	}
}
