package instances

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// client talks to one instance with one token. It may be used from any number
// of goroutines.
type client struct {
	base  string // http://127.0.0.1:PORT
	token string
	key   string // Idempotency-Key of every request; empty: none
	has   string // If-None-Match of every request; empty: none
	id    string // X-Request-Id of every request; empty: none
	http  *http.Client
}

func newClient(t testing.TB, base, token string) client {
	return newClientOver(t, base, token, &http.Transport{MaxIdleConnsPerHost: 256})
}

// newClientOver is newClient with a transport of the caller's.
func newClientOver(t testing.TB, base, token string, transport *http.Transport) client {
	t.Cleanup(transport.CloseIdleConnections)
	return client{base: base, token: token, http: &http.Client{Transport: openapitest.CheckTransport(t, transport), Timeout: testenv.WaitTimeout}}
}

// response is a response read to its end.
type response struct {
	status int
	header http.Header
	body   string
}

// try asks for something and returns the error of a connection that breaks.
func (c client) try(method, path, body string) (response, error) {
	return c.tryContext(context.Background(), method, path, body)
}

// tryContext is try until a context ends.
func (c client) tryContext(ctx context.Context, method, path, body string) (response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if c.key != "" {
		request.Header.Set("Idempotency-Key", c.key)
	}
	if c.has != "" {
		request.Header.Set("If-None-Match", c.has)
	}
	if c.id != "" {
		request.Header.Set("X-Request-Id", c.id)
	}
	raw, err := c.http.Do(request)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = raw.Body.Close() }()
	text, err := io.ReadAll(raw.Body)
	return response{status: raw.StatusCode, header: raw.Header, body: string(text)}, err
}

// ask is try where the connection must hold. It may be called from any
// goroutine; after an error the response is empty.
func (c client) ask(t testing.TB, method, path, body string) response {
	t.Helper()
	got, err := c.try(method, path, body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return got
}

// read asks for something that must be there and decodes it.
func (c client) read(t testing.TB, path string, into any) {
	t.Helper()
	got := c.ask(t, http.MethodGet, path, "")
	if got.status != http.StatusOK {
		t.Errorf("GET %s: %d %s", path, got.status, got.body)
		return
	}
	if err := json.Unmarshal([]byte(got.body), into); err != nil {
		t.Errorf("GET %s: %v: %s", path, err, got.body)
	}
}

// message returns the text of an error in either of the two published forms,
// empty where the response has none.
func (a response) message() string {
	var form struct {
		Message string
		Error   struct{ Message string }
	}
	if json.Unmarshal([]byte(a.body), &form) != nil {
		return ""
	}
	return form.Message + form.Error.Message
}

// entry is an invoice file as an order shows it.
type entry struct {
	ID  int64
	URL string
}

// upload uploads a file, and returns its entry where that went well.
func (c client) upload(orderPath, filename string, content []byte) (response, entry, error) {
	got, err := c.try(http.MethodPost, orderPath+"/invoices", uploadBody(filename, content))
	if err != nil || got.status != http.StatusOK {
		return got, entry{}, err
	}
	e, err := uploaded(got)
	return got, e, err
}

// uploadBody returns the body of an upload.
func uploadBody(filename string, content []byte) string {
	body, err := json.Marshal(map[string]string{
		"filename": filename, "contentBase64": base64.StdEncoding.EncodeToString(content),
	})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(body)
}

// uploaded returns the entry of the file that an upload stored.
func uploaded(got response) (entry, error) {
	var form struct{ Invoice entry }
	err := json.Unmarshal([]byte(got.body), &form)
	return form.Invoice, err
}

// download returns what is stored at the address of an entry, whichever
// instance has given it out.
func (c client) download(t testing.TB, e entry) []byte {
	t.Helper()
	got := c.ask(t, http.MethodGet, e.path(t), "")
	if got.status != http.StatusOK {
		t.Errorf("GET %s: %d %s", e.URL, got.status, got.body)
	}
	return []byte(got.body)
}

// path is where an instance serves a file itself.
func (e entry) path(t testing.TB) string {
	t.Helper()
	_, path, ok := strings.Cut(e.URL, "/storage/")
	if !ok {
		t.Errorf("%s is no address of a file", e.URL)
	}
	return "/storage/" + path
}

// sample is an order made of the nth document of ingesttest.
type sample int

func (n sample) number() int64     { return int64(ingesttest.FirstOrderID + int(n)) }
func (n sample) reference() string { return ingesttest.Reference(int(n)) }
func (n sample) v1() string        { return fmt.Sprintf("/api/orders/%d", n.number()) }
func (n sample) v2() string        { return "/v2/orders/" + n.reference() }

// path is the order's path in one version or the other, by turns.
func (n sample) path(round int) string {
	if round%2 == 0 {
		return n.v1()
	}
	return n.v2()
}

// registered returns the documents of samples of a merchant, each in the state
// in which an order can be accepted or rejected.
func registered(merchantID int64, first sample, count int) []byte {
	documents := make([][]byte, count)
	for i := range documents {
		documents[i] = ingesttest.Document(int(first)+i, func(document map[string]any) {
			document["merchantId"], document["state"] = merchantID, order.Registered.String()
		})
	}
	return bytes.Join(documents, []byte("\n"))
}

// decision is one way to accept or reject an order.
type decision struct {
	method, body string
	path         func(sample) string
	makes        order.State // after success
	refusal      string
}

var decisions = []decision{
	{http.MethodPut, `{"status":"G"}`, sample.v1, order.InProcessing, "Cannot Accept Order"},
	{http.MethodPut, `{"status":"D","reason":"damaged"}`, sample.v1, order.RejectedByMerchant, "Cannot Reject Order"},
	{http.MethodPatch, "", func(n sample) string { return n.v2() + "/accept" }, order.InProcessing, "Cannot Accept Order"},
	{http.MethodPatch, `{"status":"D"}`, func(n sample) string { return n.v2() + "/reject" }, order.RejectedByMerchant, "Cannot Reject Order"},
}

const (
	tooManyFiles = "You cannot upload more than 3 files."
	uploadFailed = "There were errors during the upload."
	notThere     = "The invoice was not found."
)

// whole is what a single order shows of what can change.
type whole struct {
	state    string
	invoices []entry
}

// whole reads an order in one version or the other.
func (c client) whole(t testing.TB, n sample, round int) whole {
	t.Helper()
	if round%2 == 0 {
		var form struct {
			Status   string
			Invoices []entry
		}
		c.read(t, n.v1(), &form)
		if len(form.Status) != 1 || len(order.StatesOfCode(form.Status[0])) == 0 {
			t.Errorf("order %s has status %q", n.reference(), form.Status)
			return whole{}
		}
		return whole{order.StatesOfCode(form.Status[0])[0].String(), form.Invoices}
	}
	var form struct {
		Order struct {
			State    string
			Invoices []entry
		}
	}
	c.read(t, n.v2(), &form)
	return whole{form.Order.State, form.Order.Invoices}
}
