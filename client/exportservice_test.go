package client_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// breaking is a transport that cuts each response to an export after a number of bytes.
type breaking struct {
	after int64
	cut   int
}

func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept-Encoding", "identity")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK {
		response.Body = &cutBody{ReadCloser: response.Body, left: b.after, cut: &b.cut}
	}
	return response, err
}

type cutBody struct {
	io.ReadCloser
	left int64
	cut  *int
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		*b.cut++
		return 0, errors.New("cut")
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// TestExportAgainstService exports orders over connections that break in the middle of a
// line, while an order changes: each comes once, and the feed goes on where it ended
// before the first one.
func TestExportAgainstService(t *testing.T) {
	t.Parallel()
	const orders = 30
	server, plain := start(t, orders)
	begin := testenv.Of(plain.FeedEnd(t.Context())).Must(t)
	broken := &breaking{after: 5000}
	c := testenv.Of(client.New(server.BaseURL, server.Token, client.WithHTTPClient(&http.Client{Transport: broken}), client.WithMaxWait(0))).Must(t)
	export := c.Export(client.Filter{})
	n, seen := 0, make(map[string]bool)
	var previous time.Time
	for order, err := range export.Orders(t.Context()) {
		testenv.NoError(t, err)
		if n++; seen[order.Reference] || order.CreatedAt.Before(previous) {
			t.Errorf("order %d is %s again, or an older one", n, order.Reference)
		}
		seen[order.Reference], previous = true, order.CreatedAt
		if _, ok := export.End(); ok {
			t.Fatal("the export is complete before its last order")
		}
		if n == 20 {
			testenv.NoError(t, plain.Accept(t.Context(), ingesttest.Reference(1)))
		}
	}
	end, ok := export.End()
	if !ok || n != orders || broken.cut < 5 || end.Next != begin.Next || end.History != begin.History {
		t.Errorf("%d orders over %d connections, end %+v, want %+v", n, broken.cut, end, begin)
	}
	var lines [][]byte
	for line, err := range plain.Export(client.Filter{State: client.InProcessing, From: ingesttest.CreatedAt(1), To: ingesttest.CreatedAt(1)}).Lines(t.Context()) {
		testenv.NoError(t, err)
		lines = append(lines, line)
	}
	single := testenv.Send(t, server.Token, "GET", server.BaseURL+"/v2/orders/"+ingesttest.Reference(1), "").Body
	testenv.Equal(t, "the exported order", `{"order":`+string(bytes.Join(lines, nil))+`}`, single)
}

// TestExportFails responds to exports with what no service should send.
func TestExportFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cursor, body string
		want         error
		requests     int
	}{
		"no cursor":       {"", `{"summary":{"orders":0},"complete":true}` + "\n", client.ErrResponse, 1},
		"no JSON":         {"c", "x\n", client.ErrResponse, 1},
		"no reference":    {"c", "{}\n", client.ErrResponse, 1},
		"no whole order":  {"c", `{"id":"SF-1"}` + "\n", client.ErrResponse, 1},
		"nothing":         {"c", "", client.ErrTransport, client.DefaultTries},
		"no line end":     {"c", `{"summary":{"orders":0},"complete":true}`, client.ErrTransport, client.DefaultTries},
		"ended too early": {"c", `{"summary":{"orders":0},"complete":false,"problem":"The service is stopping."}` + "\n", client.ErrUnavailable, client.DefaultTries},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Export-Cursor", test.cursor)
			_, _ = io.WriteString(w, test.body)
		})
		export := f.client.Export(client.Filter{})
		var got error
		for _, err := range export.Orders(t.Context()) {
			got = err
		}
		var failure *client.Error
		if n := len(f.requests()); !errors.Is(got, test.want) || !errors.As(got, &failure) || n != test.requests {
			t.Errorf("%s: %d requests, error %v", name, n, got)
		}
		if _, ok := export.End(); ok {
			t.Errorf("%s: the export is complete", name)
		}
	}
}
