package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// start starts a service with the first orders of ingesttest.
func start(t *testing.T, orders int, flags ...string) (*apptest.Server, *client.Client) {
	t.Helper()
	server := apptest.Start(t, flags...)
	var documents [][]byte
	for n := 1; n <= orders; n++ {
		documents = append(documents, ingesttest.Document(n))
	}
	server.Import(t, documents...)
	return server, connect(t, server.BaseURL, server.Token)
}

func connect(t *testing.T, address, token string) *client.Client {
	t.Helper()
	c := testenv.Of(client.New(address, token)).Must(t)
	t.Cleanup(c.Close)
	return c
}

// TestOrderAgainstService compares an order with the document that was imported.
func TestOrderAgainstService(t *testing.T) {
	t.Parallel()
	_, c := start(t, 3)
	got := testenv.Of(c.Order(t.Context(), ingesttest.Reference(2))).Must(t)
	var document struct {
		Total, Subtotal int64
		Customer        client.Customer
		Address         client.Address         `json:"shippingAddress"`
		InvoiceDetails  *client.InvoiceDetails `json:"invoiceDetails"`
		ExpiresAt       time.Time
		LineItems       []struct {
			ID, UnitPrice, Quantity int64
			ProductName             string
		}
	}
	testenv.NoError(t, json.Unmarshal(ingesttest.Document(2), &document))
	want := client.Order{
		Reference: ingesttest.Reference(2), State: client.Registered, CountryCode: "GR", HasInvoice: document.InvoiceDetails != nil,
		SubTotalItemsAmount: document.Subtotal, TotalItemsAmount: document.Total, Currency: "EUR", CreatedAt: ingesttest.CreatedAt(2), ExpiresAt: document.ExpiresAt,
		Customer: document.Customer, Address: document.Address, InvoiceDetails: document.InvoiceDetails, Invoices: []client.Invoice{},
		Payment: client.Payment{Name: "bank-transfer"}, Tag: got.Tag, Document: got.Document, LineItems: got.LineItems,
		Carrier: client.Carrier{ShipmentID: 920_002, Name: "ACS", DeliveryName: "Παράδοση στο σπίτι", DeliveryKey: "courier"},
	}
	testenv.Equal(t, "order", want, got)
	for i, line := range document.LineItems {
		item := got.LineItems[i]
		if item.ID != line.ID || item.UnitPrice != line.UnitPrice || item.Quantity != line.Quantity || item.ProductName != line.ProductName {
			t.Errorf("line %d: %+v, want %+v", i, item, line)
		}
	}
}

func TestListsAgainstService(t *testing.T) {
	t.Parallel()
	_, c := start(t, 36)
	var all []client.Summary
	for order, err := range c.Orders(t.Context(), client.Filter{PageSize: 7}) {
		testenv.NoError(t, err)
		all = append(all, order)
	}
	seen, registered := make(map[string]bool), 0
	for i, order := range all {
		seen[order.Reference] = true
		if order.State == client.Registered {
			registered++
		}
		if i > 0 && order.CreatedAt.After(all[i-1].CreatedAt) {
			t.Errorf("%s is newer than the one before it", order.Reference)
		}
	}
	if len(all) != 36 || len(seen) != 36 {
		t.Errorf("%d orders, %d different ones, want 36", len(all), len(seen))
	}
	page, err := c.OrdersPage(t.Context(), client.Filter{State: client.Completed, From: ingesttest.CreatedAt(7), To: ingesttest.CreatedAt(7), PageSize: 5}, 1)
	testenv.NoError(t, err)
	day := ingesttest.CreatedAt(7).Truncate(24 * time.Hour)
	if page.Number != 1 || page.Size != 5 || page.Total != 1 || page.State != client.Completed || page.From != day || page.To != day.Add(24*time.Hour-time.Second) ||
		len(page.Orders) != 1 || page.Orders[0].Reference != ingesttest.Reference(7) {
		t.Errorf("%+v", page)
	}
	_, err = c.OrdersPage(t.Context(), client.Filter{State: "asleep"}, 1)
	wantKind(t, err, client.ErrInvalidParams)
	for before, want := range map[time.Time]int{{}: registered, ingesttest.CreatedAt(7): 3} {
		previous := client.UnansweredOrder{}
		for order, err := range c.Unanswered(t.Context(), before) {
			testenv.NoError(t, err)
			want--
			if order.State != client.Registered || order.ExpiresAt.Before(previous.ExpiresAt) || len(order.LineItems) == 0 || *order.SecondsLeft != 0 {
				t.Errorf("%+v", order)
			}
			previous = order
		}
		testenv.Equal(t, fmt.Sprintf("unanswered orders left before %s", before), 0, want)
	}
}

// TestListsOfNumbersAndInvoices reads the orders with a number, and those without an invoice
// file, of which there are two pages.
func TestListsOfNumbersAndInvoices(t *testing.T) {
	t.Parallel()
	_, c := start(t, 420)
	ctx := t.Context()
	asked := map[string]bool{}
	for order, err := range c.Orders(ctx, client.Filter{}) {
		testenv.NoError(t, err)
		if order.HasInvoice && order.State != client.RejectedByMerchant && order.State != client.Canceled {
			asked[order.Reference] = true
		}
	}
	testenv.Equal(t, "two pages", true, len(asked) > client.MaxPageSize+1)
	var found []client.Summary
	for range 2 {
		for order, err := range c.WithoutInvoice(ctx) {
			testenv.NoError(t, err)
			if n := len(found); !asked[order.Reference] || n > 0 && order.CreatedAt.Before(found[n-1].CreatedAt) {
				t.Errorf("%+v", order)
			}
			found = append(found, order)
			delete(asked, order.Reference)
		}
		testenv.Equal(t, "orders left", 0, len(asked))
		first := found[0].Reference
		document := client.InvoiceDocument{Kind: "credit-note", Number: "INV/1042", Mark: "400001234567890", Link: "https://provider.example/i/1042"}
		invoice := testenv.Of(c.UploadInvoice(ctx, first, "a.pdf", strings.NewReader("x"), client.OfDocument(document))).Must(t)
		testenv.Equal(t, "document", document, client.InvoiceDocument{Kind: invoice.Kind, Number: invoice.Number, Mark: invoice.Mark, Link: invoice.Link})
		for _, order := range found[1:] {
			asked[order.Reference] = true
		}
		found = nil
	}
	_, err := c.UploadInvoice(ctx, ingesttest.Reference(1), "a.pdf", strings.NewReader("x"), client.OfDocument(client.InvoiceDocument{Mark: "one"}))
	wantKind(t, err, client.ErrInvalidPayload)

	for _, number := range []string{"2026/0815", "..", "a?b#c%2F"} {
		testenv.Of(c.ByMerchantReference(ctx, number)).Want(t, "orders with no number", []client.Summary{})
		for n := 1; n <= 2; n++ {
			testenv.NoError(t, c.Update(ctx, ingesttest.Reference(n), client.OrderUpdate{MerchantReference: &number}))
		}
		orders := testenv.Of(c.ByMerchantReference(ctx, number)).Must(t)
		if len(orders) != 2 || orders[0].CreatedAt.Before(orders[1].CreatedAt) || orders[1].State == "" {
			t.Errorf("%q: %+v", number, orders)
		}
	}
	_, err = c.ByMerchantReference(ctx, "")
	wantKind(t, err, client.ErrInvalidParams)
}

func TestInvoicesAgainstService(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "the largest file", order.MaxInvoiceSize, client.MaxInvoiceSize)
	_, c := start(t, 1)
	ctx, reference := t.Context(), ingesttest.Reference(1)
	content := bytes.Repeat([]byte("0123456789abcdef"), client.MaxInvoiceSize/16)
	var stored []client.Invoice
	for _, name := range []string{"τιμή 100% #1?.pdf", "b.PNG", "c.jpeg"} {
		invoice := testenv.Of(c.UploadInvoice(ctx, reference, name, bytes.NewReader(content))).Must(t)
		stored = append(stored, invoice)
		file, err := c.DownloadInvoice(ctx, invoice)
		if err != nil || file.Name != name || !bytes.Equal(file.Content, content) {
			t.Errorf("%q: %d bytes, %v", file.Name, len(file.Content), err)
		}
	}
	order, err := c.Order(ctx, reference)
	testenv.NoError(t, err)
	testenv.Equal(t, "files", stored, order.Invoices)
	for name, kind := range map[string]error{"d.pdf": client.ErrTooManyFiles, "d.exe": client.ErrFileType, "": client.ErrInvalidPayload} {
		_, err := c.UploadInvoice(ctx, reference, name, strings.NewReader("x"))
		wantKind(t, err, kind)
	}
	_, err = c.UploadInvoice(ctx, "SF-0", "a.pdf", strings.NewReader("x"))
	wantKind(t, err, client.ErrNotFound)
	testenv.Of(c.DeleteInvoice(ctx, reference, stored[0].ID)).Want(t, "left", stored[1:])
	_, err = c.DeleteInvoice(ctx, reference, stored[0].ID)
	wantKind(t, err, client.ErrInvoiceNotFound)
	_, err = c.DeleteInvoice(ctx, reference, 0)
	wantKind(t, err, client.ErrInvalidParams)
	_, err = c.DeleteInvoice(ctx, reference, -1)
	wantKind(t, err, client.ErrInvalidParams)
	_, err = c.DownloadInvoice(ctx, stored[0])
	wantKind(t, err, client.ErrInvoiceNotFound)
}

// TestConcurrentUse uses one client concurrently. Of many accepts of one order one
// succeeds.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	_, c := start(t, 24)
	var accepted atomic.Int64
	var hands sync.WaitGroup
	for hand := range 12 {
		hands.Go(func() {
			for n := 1; n <= 24; n++ {
				if _, err := c.Order(t.Context(), ingesttest.Reference(n)); err != nil {
					t.Error(err)
				}
			}
			if c.Accept(t.Context(), ingesttest.Reference(1)) == nil {
				accepted.Add(1)
			}
			name := fmt.Sprintf("%d.pdf", hand)
			if _, err := c.UploadInvoice(t.Context(), ingesttest.Reference(hand+1), name, io.LimitReader(zeros{}, 50_000)); err != nil {
				t.Error(err)
			}
		})
	}
	hands.Wait()
	testenv.Equal(t, "accepts succeeded", 1, accepted.Load())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestFeedAgainstService checks that the feed has every change once, in order.
func TestFeedAgainstService(t *testing.T) {
	t.Parallel()
	server, c := start(t, 3)
	ctx, first, second := t.Context(), ingesttest.Reference(1), ingesttest.Reference(2)
	testenv.NoError(t, c.Accept(ctx, first))
	testenv.NoError(t, c.Reject(ctx, second, client.Damaged))
	invoice := testenv.Of(c.UploadInvoice(ctx, first, "a.pdf", strings.NewReader("x"))).Must(t)
	var events []string
	for event, err := range c.Events(ctx, 3, client.WithOrders()) {
		testenv.NoError(t, err)
		order := testenv.Of(c.Order(ctx, event.OrderReference)).Must(t)
		order.Tag = ""
		testenv.Equal(t, "order", &order, event.Order)
		var stored client.Event
		text, err := json.Marshal(event)
		testenv.NoError(t, errors.Join(err, json.Unmarshal(text, &stored)))
		stored.Order.Document = event.Order.Document // as it was encoded here
		testenv.Equal(t, "stored event", event, stored)
		change, _ := event.StateChange()
		file, _ := event.InvoiceChange()
		events = append(events, fmt.Sprintln(event.Seq, event.Type, event.OrderReference, event.OrderID, event.Actor, change, file))
	}
	want := []string{
		fmt.Sprintln(4, "order.state_changed", first, ingesttest.FirstOrderID+1, "merchant", "{registered in-processing }", "{0 }"),
		fmt.Sprintln(5, "order.state_changed", second, ingesttest.FirstOrderID+2, "merchant", "{registered rejected-by-merchant damaged}", "{0 }"),
		fmt.Sprintln(6, "invoice.uploaded", first, ingesttest.FirstOrderID+1, "merchant", "{  }", fmt.Sprintf("{%d a.pdf}", invoice.ID)),
	}
	testenv.Equal(t, "events", want, events)
	end, err := c.FeedEnd(ctx)
	if err != nil || end.Next != 6 || end.Newest != 6 || end.History == "" {
		t.Errorf("end of the feed %+v, error %v", end, err)
	}
	for event, err := range c.Events(ctx, 5, client.InHistory(end.History)) {
		if err != nil || event.History != end.History || event.Order != nil {
			t.Errorf("event %+v, error %v", event, err)
		}
	}
	for _, err := range c.Events(ctx, 5, client.InHistory("another")) {
		wantKind(t, err, client.ErrHistoryChanged)
	}
	var history []int64
	for event, err := range c.OrderEvents(ctx, first) {
		testenv.NoError(t, err)
		history = append(history, event.Seq)
	}
	testenv.Equal(t, "history", []int64{1, 4, 6}, history)
	for _, err := range c.OrderEvents(ctx, "SF-0") {
		wantKind(t, err, client.ErrNotFound)
	}
	// FollowEvents returns events that occur after its start.
	for event, err := range c.FollowEvents(ctx, 5, client.InHistory(end.History)) {
		testenv.NoError(t, err)
		if event.Seq == 6 {
			server.Import(t, ingesttest.Document(4))
		}
		if event.Seq == 7 {
			break
		}
	}
}

// TestWritesAgainstService checks tags and keys.
func TestWritesAgainstService(t *testing.T) {
	t.Parallel()
	_, c := start(t, 2)
	ctx, reference := t.Context(), ingesttest.Reference(1)
	read, err := c.Order(ctx, reference)
	if err != nil || read.Tag == "" {
		t.Fatalf("tag %q, %v", read.Tag, err)
	}
	var upload, again, removal client.Receipt
	invoice, err := c.UploadInvoice(ctx, reference, "a.pdf", strings.NewReader("x"), client.IfMatch(read.Tag), client.ReceiptTo(&upload))
	if err != nil || upload.Tag == "" || upload.Tag == read.Tag || upload.Replayed || upload.Key == "" {
		t.Errorf("upload: %+v, %v", upload, err)
	}
	repeated, err := c.UploadInvoice(ctx, reference, "a.pdf", strings.NewReader("x"), client.IfMatch(read.Tag), client.IdempotencyKey(upload.Key), client.ReceiptTo(&again))
	if err != nil || repeated != invoice || !again.Replayed {
		t.Errorf("the same upload: %+v, %+v, %v", repeated, again, err)
	}
	_, err = c.UploadInvoice(ctx, reference, "a.pdf", strings.NewReader("y"), client.IdempotencyKey(upload.Key))
	wantKind(t, err, client.ErrKeyReused)
	number, none := "2027/0815", ""
	testenv.NoError(t, c.Update(ctx, reference, client.OrderUpdate{MerchantReference: &number, MerchantNote: &number}, client.IfMatch(upload.Tag), client.ReceiptTo(&upload)))
	testenv.NoError(t, c.Update(ctx, reference, client.OrderUpdate{MerchantNote: &none}, client.ReceiptTo(&upload)))
	if changed, err := c.Order(ctx, reference); err != nil || *changed.MerchantReference != number || changed.MerchantNote != nil || changed.Tag == read.Tag {
		t.Errorf("updated: %+v, %v", changed, err)
	}
	wantKind(t, c.Update(ctx, reference, client.OrderUpdate{}), client.ErrInvalidParams)
	wantKind(t, c.Accept(ctx, reference, client.IfMatch(read.Tag)), client.ErrPrecondition)
	_, err = c.DeleteInvoice(ctx, reference, invoice.ID, client.IfMatch(read.Tag))
	wantKind(t, err, client.ErrPrecondition)
	testenv.Of(c.DeleteInvoice(ctx, reference, invoice.ID, client.IfMatch(upload.Tag), client.ReceiptTo(&removal))).Must(t)
	testenv.NoError(t, c.Reject(ctx, reference, client.NoReason, client.IfMatch(removal.Tag)))
	wantKind(t, c.Accept(ctx, reference, client.IfMatch("no tag")), client.ErrInvalidParams)
}

// lossyTransport drops the response to every first request of a pair, after the
// service has processed it.
type lossyTransport struct {
	base  http.RoundTripper
	count atomic.Int64
}

func (c *lossyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(r)
	if err == nil && c.count.Add(1)%2 == 1 {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return response, err
}

// TestLostResponses checks that a write whose response is lost is retried, made once,
// and has the result of the first attempt.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	server, plain := start(t, 24)
	c, err := client.New(server.BaseURL, server.Token, client.WithHTTPClient(&http.Client{Transport: &lossyTransport{base: http.DefaultTransport}}),
		client.WithSleep(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }))
	testenv.NoError(t, err)
	for n := 1; n <= 24; n++ {
		reference := ingesttest.Reference(n)
		var receipt client.Receipt
		invoice, err := c.UploadInvoice(t.Context(), reference, "a.pdf", strings.NewReader("x"), client.ReceiptTo(&receipt))
		if err != nil || !receipt.Replayed {
			t.Errorf("upload to %s: %+v, %v", reference, receipt, err)
		}
		if n%12 <= 2 {
			err = c.Accept(t.Context(), reference)
		} else {
			_, err = c.DeleteInvoice(t.Context(), reference, invoice.ID)
		}
		testenv.NoError(t, err)
		order, err := plain.Order(t.Context(), reference)
		if want := map[bool]int{true: 1}[n%12 <= 2]; err != nil || len(order.Invoices) != want {
			t.Errorf("%s has %d files, want %d; %v", reference, len(order.Invoices), want, err)
		}
	}
}

// TestAnswersAgainstService answers orders in several requests, each of which loses its
// first response, and repeats the call.
func TestAnswersAgainstService(t *testing.T) {
	t.Parallel()
	server, plain := start(t, 2)
	c, err := client.New(server.BaseURL, server.Token, client.WithHTTPClient(&http.Client{Transport: &lossyTransport{base: http.DefaultTransport}}),
		client.WithSleep(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }), client.WithMaxAnswers(2))
	testenv.NoError(t, err)
	first, second := ingesttest.Reference(1), ingesttest.Reference(2)
	read := testenv.Of(plain.Order(t.Context(), first)).Must(t)
	answers := []client.Answer{
		{Reference: first, Decision: client.AcceptOrder, IfMatch: read.Tag},
		{Reference: second, Decision: client.RejectOrder, Reason: client.Damaged},
		{Reference: first, Decision: client.RejectOrder},
		{Reference: "SF-0", Decision: client.AcceptOrder},
		{Reference: first, Decision: client.AcceptOrder, Reason: "boredom"},
	}
	for range 2 {
		var got []string
		for result, err := range c.Answers(t.Context(), slices.Values(answers), client.IdempotencyKey("k")) {
			testenv.NoError(t, err)
			got = append(got, fmt.Sprintln(result.Answer.Reference, result.Line, result.Status, result.State, result.Replayed))
		}
		testenv.Equal(t, "results", []string{
			fmt.Sprintln(first, 1, client.AnswerChanged, client.InProcessing, true),
			fmt.Sprintln(second, 2, client.AnswerChanged, client.RejectedByMerchant, true),
			fmt.Sprintln(first, 1, client.AnswerRefused, client.InProcessing, false),
			fmt.Sprintln("SF-0", 2, client.AnswerNotFound, "", false),
			fmt.Sprintln(first, 1, client.AnswerInvalid, "", false),
		}, got)
	}
	for _, err := range c.Answers(t.Context(), slices.Values(answers), client.IfMatch(read.Tag)) {
		wantKind(t, err, client.ErrInvalidParams)
	}
}
