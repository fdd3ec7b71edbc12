package console_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
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
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	key := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if got := b.get(page); strings.Contains(got.Body, `action="`+page+`/files"`) {
		key = got.form(b.s.T, page+"/files").Get("key")
	}
	testenv.NoError(b.s.T, form.WriteField("key", key))
	for i := 0; i < len(files); i += 2 {
		part, err := form.CreateFormFile("file", files[i])
		testenv.NoError(b.s.T, err)
		_, err = part.Write([]byte(files[i+1]))
		testenv.NoError(b.s.T, err)
	}
	testenv.NoError(b.s.T, form.Close())
	return b.send(http.MethodPost, page+"/files", form.FormDataContentType(), &body)
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
	if got := b.upload(orderPage, "last.jpg", "four"); got.location() != orderPage+"?done=uploaded" {
		t.Errorf("upload: %d %s", got.Status, got.Body)
	}
	b.get(orderPage).WantText(t, http.StatusOK, "which is the maximum", "File added:")
	b.upload(orderPage, "fifth.pdf", "five").WantText(t, http.StatusBadRequest, "at most 3 files")

	got := b.get(orderPage + "/files/%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF%201.pdf")
	got.WantText(t, http.StatusOK, "one")
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store",
		"Content-Disposition": "inline; filename*=utf-8''%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF%201.pdf",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
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
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	testenv.NoError(s.T, form.WriteField("key", b.get(orderPage).form(t, orderPage+"/files").Get("key")))
	part, err := form.CreateFormFile("file", "a.pdf")
	testenv.NoError(s.T, err)
	_, err = part.Write([]byte("content"))
	testenv.NoError(s.T, err)
	testenv.NoError(s.T, form.Close())
	for range 2 {
		got := b.send(http.MethodPost, orderPage+"/files", form.FormDataContentType(), bytes.NewReader(body.Bytes()))
		if got.Status != http.StatusSeeOther {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	o, err := s.Orders.Get(t.Context(), ours, order.ByReference("A-1"))
	testenv.NoError(s.T, err)
	if len(o.Invoices) != 1 {
		t.Errorf("%d files, want 1", len(o.Invoices))
	}
	for _, cut := range []int{10, body.Len() / 2, body.Len() - 70} {
		b.send(http.MethodPost, orderPage+"/files", form.FormDataContentType(), bytes.NewReader(body.Bytes()[:cut])).WantText(t, http.StatusBadRequest)
	}
	b.send(http.MethodPost, orderPage+"/files", "text/plain", strings.NewReader("x")).WantText(t, http.StatusBadRequest)
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
		if got := b.post(link[1], form); got.location() != orderPage+"?done=withdrawn" {
			t.Errorf("withdraw: %d %s", got.Status, got.Body)
		}
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
