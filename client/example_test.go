package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"merchantorders/client"
)

func Example() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// Read and accept the newest order of 2025 that is registered.
	for waiting, err := range c.Orders(ctx, client.Filter{State: client.Registered, To: time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)}) {
		if err != nil {
			log.Fatal(err)
		}
		order, err := c.Order(ctx, waiting.Reference)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(order.Reference, order.TotalItemsAmount, "cents,", len(order.LineItems), "line(s)")
		if err := c.Accept(ctx, order.Reference); err != nil {
			log.Fatal(err)
		}
		fmt.Println("accepted")
		break
	}
	// Output:
	// SF-2026-0000012 1790 cents, 1 line(s)
	// accepted
}

func ExampleClient_Orders() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	for order, err := range c.Orders(context.Background(), client.Filter{State: client.PickedByCourier}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(order.Reference, order.CreatedAt.Format(time.DateTime))
	}
	// Output:
	// SF-2026-0000029 2026-11-06 04:27:01
	// SF-2026-0000017 2026-10-05 06:51:13
	// SF-2026-0000005 2026-09-03 09:15:25
}

func ExampleClient_OrdersPage() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	page, err := c.OrdersPage(context.Background(), client.Filter{PageSize: 4}, 8)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("page %d of %d orders in all: %d\n", page.Number, page.Total, len(page.Orders))
	// Output:
	// page 8 of 30 orders in all: 2
}

// An error has a kind, for errors.Is, and the code and message of the service.
func ExampleClient_Reject() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fmt.Println("first:", c.Reject(ctx, "SF-2026-0000013", client.OutOfStock))

	err = c.Reject(ctx, "SF-2026-0000013", client.OutOfStock)
	var refusal *client.Error
	switch {
	case errors.Is(err, client.ErrCannotReject) && errors.As(err, &refusal):
		fmt.Println("second:", refusal.Status, refusal.Code, refusal.Message)
	default:
		log.Fatal(err)
	}
	// Output:
	// first: <nil>
	// second: 400 10304 Cannot Reject Order
}

func ExampleClient_UploadInvoice() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	// Usually an *os.File.
	invoice, err := c.UploadInvoice(ctx, "SF-2026-0000014", "invoice.pdf", strings.NewReader("%PDF-1.4"))
	if err != nil {
		log.Fatal(err)
	}
	file, err := c.DownloadInvoice(ctx, invoice)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Name, file.MediaType, len(file.Content))
	left, err := c.DeleteInvoice(ctx, "SF-2026-0000014", invoice.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("left:", len(left))
	// Output:
	// invoice.pdf application/pdf 8
	// left: 0
}

// A write that succeeds only if the order has not changed.
func ExampleIfMatch() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	order, err := c.Order(ctx, "SF-2026-0000024")
	if err != nil {
		log.Fatal(err)
	}
	// Another program uploads a file meanwhile.
	if _, err := c.UploadInvoice(ctx, order.Reference, "a.pdf", strings.NewReader("%PDF-1.4")); err != nil {
		log.Fatal(err)
	}
	err = c.Accept(ctx, order.Reference, client.IfMatch(order.Tag))
	fmt.Println("order has changed:", errors.Is(err, client.ErrPrecondition))
	// Output:
	// order has changed: true
}

// A repetition with the same key returns the first result.
func ExampleIdempotencyKey() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for range 2 {
		var receipt client.Receipt
		err := c.Accept(ctx, "SF-2026-0000026", client.IdempotencyKey("accept SF-2026-0000026"), client.ReceiptTo(&receipt))
		fmt.Println(err, receipt.Replayed)
	}
	// Output:
	// <nil> false
	// <nil> true
}

// A program that stores the number and the history of the last event misses no event
// and notices if numbers have started again.
func ExampleClient_Events() {
	c, err := client.New(os.Getenv("MERCHANT_ORDERS_ADDRESS"), os.Getenv("MERCHANT_ORDERS_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	last := int64(27) // stored by the previous run
	history := ""     // stored with it
	for event, err := range c.Events(context.Background(), last, client.InHistory(history)) {
		if errors.Is(err, client.ErrHistoryChanged) {
			log.Fatal("begin a new copy with FeedEnd: ", err)
		}
		if err != nil {
			log.Fatal(err)
		}
		history = event.History
		if last = event.Seq; last <= 30 {
			fmt.Println(event.Seq, event.Type, event.OrderReference)
		}
	}
	// Output:
	// 28 order.created SF-2026-0000028
	// 29 order.created SF-2026-0000029
	// 30 order.created SF-2026-0000030
}
