package robust

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// running is a server process and a client of its merchant.
type running struct {
	*apptest.Process
	client
}

// start starts a server on a new data folder, with further flags of serve.
func start(t *testing.T, flags ...string) running {
	t.Helper()
	return startOn(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// startOn starts a server on a data folder that may hold something already.
func startOn(t *testing.T, data string, flags ...string) running {
	t.Helper()
	p := apptest.StartProcess(t, data, flags...)
	return running{p, newClient(t, p.BaseURL, p.Merchant(t, apptest.MerchantID))}
}

// client talks to a server as its merchant. It may be used from any number of
// goroutines.
type client struct {
	base  string // http://127.0.0.1:PORT
	token string
	key   string // Idempotency-Key of every request; empty: none
	http  *http.Client
}

func newClient(t testing.TB, base, token string) client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return client{base: base, token: token, http: &http.Client{Transport: openapitest.CheckTransport(t, transport), Timeout: testenv.WaitTimeout}}
}

// response is a response read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
}

// try asks for something and returns the error of a connection that breaks.
func (c client) try(method, path string, body io.Reader) (response, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, c.base+path, body)
	if err != nil {
		return response{}, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if c.key != "" {
		request.Header.Set("Idempotency-Key", c.key)
	}
	raw, err := c.http.Do(request)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = raw.Body.Close() }()
	text, err := io.ReadAll(raw.Body)
	return response{status: raw.StatusCode, header: raw.Header, body: text}, err
}

// ask is try where the connection must hold. It may be called from any
// goroutine; after an error the response is empty.
func (c client) ask(t testing.TB, method, path, body string) response {
	t.Helper()
	got, err := c.try(method, path, strings.NewReader(body))
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return got
}

// read asks for something that must be there and decodes it. It may be called
// from any goroutine; after an error nothing is decoded.
func (c client) read(t testing.TB, path string, into any) {
	t.Helper()
	got := c.ask(t, http.MethodGet, path, "")
	if got.status != http.StatusOK {
		t.Errorf("GET %s: %d %s", path, got.status, got.body)
		return
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		t.Errorf("GET %s: %v: %q", path, err, got.body)
	}
}

// message returns the text of an error in either of the two published forms,
// empty where the response has none.
func (a response) message() string {
	var form struct {
		Message string
		Error   struct{ Message string }
	}
	if json.Unmarshal(a.body, &form) != nil {
		return ""
	}
	return form.Message + form.Error.Message
}

// entry is an invoice file as an order shows it.
type entry struct {
	ID  int64
	URL string
}

// uploadBody returns the body of an upload.
func uploadBody(filename string, content []byte) []byte {
	body, err := json.Marshal(map[string]string{
		"filename": filename, "contentBase64": base64.StdEncoding.EncodeToString(content),
	})
	if err != nil {
		panic(err) // texts always encode
	}
	return body
}

// upload uploads a file, and returns its entry where that went well.
func (c client) upload(orderPath, filename string, content []byte) (response, entry, error) {
	got, err := c.try(http.MethodPost, orderPath+"/invoices", bytes.NewReader(uploadBody(filename, content)))
	var form struct{ Invoice entry }
	if err == nil && got.status == http.StatusOK {
		err = json.Unmarshal(got.body, &form)
	}
	return got, form.Invoice, err
}

// download returns what is stored at the address of an entry.
func (c client) download(t testing.TB, e entry) []byte {
	t.Helper()
	got := c.ask(t, http.MethodGet, strings.TrimPrefix(e.URL, c.base), "")
	if got.status != http.StatusOK {
		t.Errorf("GET %s: %d %s", e.URL, got.status, got.body)
	}
	return got.body
}
