// Command shop calls a service through two clients that were generated from the document
// of version 2. It ends with exit code 1 if a call does not succeed.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"example.com/shop/oapi"
	"example.com/shop/og"
)

// source is the token, for ogen.
type source string

func (s source) Bearer(context.Context, og.OperationName) (og.Bearer, error) {
	return og.Bearer{Token: string(s)}, nil
}

func main() {
	base, token := os.Getenv("BASE"), os.Getenv("TOKEN")
	withOapi(base, token)
	withOgen(base, token)
}

// must returns the value of a call that cannot fail here.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// want ends the program if a call was refused.
func want(ok bool, call string) {
	if !ok {
		log.Fatal(call + " is refused")
	}
}

func withOapi(base, token string) {
	ctx, state, limit := context.Background(), oapi.StateRegistered, int64(1)
	client := must(oapi.NewClientWithResponses(base, oapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	})))
	list := must(client.ListOrdersWithResponse(ctx, &oapi.ListOrdersParams{State: &state, ItemsPerPage: &limit})).JSON200
	want(list != nil, "oapi-codegen: the list")
	reference := list.Orders[0].Id
	order := must(client.GetOrderWithResponse(ctx, reference, nil)).JSON200
	want(order != nil && order.Order.Id == reference, "oapi-codegen: the order")
	upload := oapi.Upload{Filename: "a.pdf", ContentBase64: []byte("%PDF-1.4")}
	want(must(client.UploadInvoiceWithResponse(ctx, reference, nil, upload)).JSON200 != nil, "oapi-codegen: the upload")
	want(must(client.AcceptOrderWithResponse(ctx, reference, nil)).JSON200 != nil, "oapi-codegen: the accept")
}

func withOgen(base, token string) {
	ctx, client := context.Background(), must(og.NewClient(base, source(token)))
	list, ok := must(client.ListOrders(ctx, og.ListOrdersParams{State: og.NewOptState(og.StateRegistered), ItemsPerPage: og.NewOptInt64(1)})).(*og.OrderListHeaders)
	want(ok, "ogen: the list")
	reference := list.Response.Orders[0].ID
	order, ok := must(client.GetOrder(ctx, og.GetOrderParams{OrderReference: reference})).(*og.GetOrderOKHeaders)
	want(ok && order.Response.Order.ID == reference, "ogen: the order")
	upload := &og.Upload{Filename: "a.pdf", ContentBase64: "JVBERi0xLjQ="}
	_, ok = must(client.UploadInvoice(ctx, upload, og.UploadInvoiceParams{OrderReference: reference})).(*og.UploadedHeaders)
	want(ok, "ogen: the upload")
	_, ok = must(client.AcceptOrder(ctx, og.AcceptOrderParams{OrderReference: reference})).(*og.SuccessHeaders)
	want(ok, "ogen: the accept")
}
