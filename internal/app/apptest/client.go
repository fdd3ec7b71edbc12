package apptest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// Client talks to a server with one token, also to one that ends meanwhile. It may be
// used from any number of goroutines.
type Client struct {
	Base   string // http://127.0.0.1:PORT
	Token  string
	Header map[string]string // further headers of every request
	HTTP   *http.Client
}

// NewClient returns a client whose requests and responses the OpenAPI documents must
// describe.
func NewClient(t testing.TB, base, token string) Client {
	return NewClientOver(t, base, token, &http.Transport{MaxIdleConnsPerHost: 256})
}

// NewClientOver is NewClient with a transport of the caller's.
func NewClientOver(t testing.TB, base, token string, transport *http.Transport) Client {
	t.Cleanup(transport.CloseIdleConnections)
	return Client{Base: base, Token: token, HTTP: &http.Client{Transport: openapitest.CheckTransport(t, transport), Timeout: testenv.WaitTimeout}}
}

// With returns the client with a header more, or with another value of it.
func (c Client) With(name, value string) Client {
	header := map[string]string{}
	maps.Copy(header, c.Header)
	header[name] = value
	c.Header = header
	return c
}

// Try sends a request and returns the error of a connection that breaks.
func (c Client) Try(method, path, body string) (testenv.Response, error) {
	return c.TryContext(context.Background(), method, path, strings.NewReader(body))
}

// TryContext is Try until a context ends, with a body that may be streamed.
func (c Client) TryContext(ctx context.Context, method, path string, body io.Reader) (testenv.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, Address(c.Base, path), body)
	if err != nil {
		return testenv.Response{}, err
	}
	return c.Do(r)
}

// Do sends a request with the headers of the client, and with its token unless the request
// has an Authorization, and returns the response with the body as it came.
func (c Client) Do(r *http.Request) (testenv.Response, error) {
	if _, has := r.Header["Authorization"]; !has {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for name, value := range c.Header {
		r.Header.Set(name, value)
	}
	got, err := c.HTTP.Do(r)
	if err != nil {
		return testenv.Response{}, err
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	return testenv.Response{Status: got.StatusCode, Header: got.Header, Body: string(text)}, err
}

// Ask is Try where the connection must hold. It may be called from any goroutine; after
// an error the response is empty.
func (c Client) Ask(t testing.TB, method, path, body string) testenv.Response {
	t.Helper()
	got, err := c.Try(method, path, body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return got
}

// Read asks for something that must be there and decodes it. It may be called from any
// goroutine; after an error nothing is decoded.
func (c Client) Read(t testing.TB, path string, into any) {
	t.Helper()
	got := c.Ask(t, http.MethodGet, path, "")
	if got.Status != http.StatusOK {
		t.Errorf("GET %s: %d %s", path, got.Status, got.Body)
		return
	}
	if err := json.Unmarshal([]byte(got.Body), into); err != nil {
		t.Errorf("GET %s: %v: %s", path, err, got.Body)
	}
}

// Message returns the text of an error in either of the two published forms, empty if
// the response has none.
func Message(r testenv.Response) string {
	var form struct {
		Message string
		Error   struct{ Message string }
	}
	if json.Unmarshal([]byte(r.Body), &form) != nil {
		return ""
	}
	return form.Message + form.Error.Message
}

// File is an invoice file as an order shows it.
type File struct {
	ID  int64
	URL string
}

// Path is where a server serves the file itself, whichever server has given the address
// out.
func (f File) Path(t testing.TB) string {
	t.Helper()
	_, path, ok := strings.Cut(f.URL, "/storage/")
	if !ok {
		t.Errorf("%s is no address of a file", f.URL)
	}
	return "/storage/" + path
}

// UploadBody returns the body of an upload.
func UploadBody(filename string, content []byte) string {
	body, err := json.Marshal(map[string]string{
		"filename": filename, "contentBase64": base64.StdEncoding.EncodeToString(content),
	})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return string(body)
}

// UploadForm returns the body of an upload that is a form with a boundary, and the headers
// of the request. Texts are the names and values of its other parts.
func UploadForm(boundary, filename string, content []byte, texts ...string) (body string, header []string) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	err := w.SetBoundary(boundary)
	var part io.Writer
	if err == nil {
		part, err = w.CreateFormFile("file", filename)
	}
	if err == nil {
		_, err = part.Write(content)
	}
	for i := 0; i < len(texts) && err == nil; i += 2 {
		err = w.WriteField(texts[i], texts[i+1])
	}
	if err != nil {
		panic(err) // only a wrong boundary is an error
	}
	_ = w.Close()
	return form.String(), []string{"Content-Type", w.FormDataContentType()}
}

// Uploaded returns the file that an upload has stored.
func Uploaded(r testenv.Response) (File, error) {
	var form struct{ Invoice File }
	err := json.Unmarshal([]byte(r.Body), &form)
	return form.Invoice, err
}

// Upload uploads a file, and returns it if that went well.
func (c Client) Upload(orderPath, filename string, content []byte) (testenv.Response, File, error) {
	got, err := c.Try(http.MethodPost, orderPath+"/invoices", UploadBody(filename, content))
	if err != nil || got.Status != http.StatusOK {
		return got, File{}, err
	}
	file, err := Uploaded(got)
	return got, file, err
}

// Download returns what is stored at the address of a file.
func (c Client) Download(t testing.TB, f File) []byte {
	t.Helper()
	got := c.Ask(t, http.MethodGet, f.Path(t), "")
	got.WantStatus(t, http.StatusOK)
	return []byte(got.Body)
}

// Sample is the order of a document of ingesttest.
type Sample int

// Number is the legacy id of the order.
func (n Sample) Number() int64 { return int64(ingesttest.FirstOrderID + int(n)) }

// Reference is the reference of the order.
func (n Sample) Reference() string { return ingesttest.Reference(int(n)) }

// V1 is the path of the order in version 1.
func (n Sample) V1() string { return fmt.Sprintf("/api/orders/%d", n.Number()) }

// V2 is the path of the order in version 2.
func (n Sample) V2() string { return "/v2/orders/" + n.Reference() }

// Path is the order's path in one version or the other, by turns.
func (n Sample) Path(round int) string {
	if round%2 == 0 {
		return n.V1()
	}
	return n.V2()
}

// Registered returns the documents of samples of a merchant, a line each, all in the
// state in which an order can be accepted or rejected.
func Registered(merchantID int64, first Sample, count int) []byte {
	documents := make([][]byte, count)
	for i := range documents {
		documents[i] = ingesttest.Document(int(first)+i, func(document map[string]any) {
			document["merchantId"], document["state"] = merchantID, order.Registered.String()
		})
	}
	return bytes.Join(documents, []byte("\n"))
}

// Decision is one way to accept or reject an order.
type Decision struct {
	Method, Body string
	Path         func(Sample) string
	Makes        order.State // after success
	Refusal      string
}

// Decisions are all ways: those of version 1, then those of version 2.
var Decisions = []Decision{
	{http.MethodPut, `{"status":"G"}`, Sample.V1, order.InProcessing, "Cannot Accept Order"},
	{http.MethodPut, `{"status":"D","reason":"damaged"}`, Sample.V1, order.RejectedByMerchant, "Cannot Reject Order"},
	{http.MethodPatch, "", func(n Sample) string { return n.V2() + "/accept" }, order.InProcessing, "Cannot Accept Order"},
	{http.MethodPatch, `{"status":"D"}`, func(n Sample) string { return n.V2() + "/reject" }, order.RejectedByMerchant, "Cannot Reject Order"},
}

// The texts of refusals.
const (
	TooManyFiles = "You cannot upload more than 3 files."
	UploadFailed = "There were errors during the upload."
)

// ShownOrder is what a single order shows of what can change.
type ShownOrder struct {
	State string
	Files []File
}

// Order reads an order in one version or the other, by turns.
func (c Client) Order(t testing.TB, n Sample, round int) ShownOrder {
	t.Helper()
	if round%2 == 0 {
		var form struct {
			Status   string
			Invoices []File
		}
		c.Read(t, n.V1(), &form)
		if len(form.Status) != 1 || len(order.StatesOfCode(form.Status[0])) == 0 {
			t.Errorf("order %s has status %q", n.Reference(), form.Status)
			return ShownOrder{}
		}
		return ShownOrder{order.StatesOfCode(form.Status[0])[0].String(), form.Invoices}
	}
	var form struct {
		Order struct {
			State    string
			Invoices []File
		}
	}
	c.Read(t, n.V2(), &form)
	return ShownOrder{form.Order.State, form.Order.Invoices}
}

// List is one page of orders.
type List struct {
	Params struct{ TotalItems int }
	Orders []struct{ ID, State string }
}

// List reads a page of version 2 with a query.
func (c Client) List(t testing.TB, query string) List {
	t.Helper()
	var page List
	c.Read(t, "/v2/orders?"+query, &page)
	return page
}

// Totals returns how many orders there are in each state, by what the lists say. Their
// sum must be the total of all.
func (c Client) Totals(t testing.TB) map[string]int {
	t.Helper()
	totals, sum := make(map[string]int), 0
	for _, state := range order.States() {
		if n := c.List(t, "itemsPerPage=1&state="+state.String()).Params.TotalItems; n > 0 {
			totals[state.String()] = n
			sum += n
		}
	}
	testenv.Equal(t, "all orders, in the list of all and in those of the states", sum, c.List(t, "itemsPerPage=1").Params.TotalItems)
	return totals
}

// Walk goes through all pages and returns the state of every order. None may come twice,
// and the total must be theirs.
func (c Client) Walk(t testing.TB) map[string]string {
	t.Helper()
	states := make(map[string]string)
	for pages := 1; ; pages++ {
		page := c.List(t, fmt.Sprintf("itemsPerPage=100&page=%d", pages))
		for _, o := range page.Orders {
			if _, twice := states[o.ID]; twice {
				t.Errorf("order %s is on two pages", o.ID)
			}
			states[o.ID] = o.State
		}
		if len(page.Orders) > 0 {
			continue
		}
		testenv.Equal(t, "orders that the lists say and show", len(states), page.Params.TotalItems)
		return states
	}
}
