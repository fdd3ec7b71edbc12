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

	// The newest order of 2025 that waits for an answer is read whole and accepted.
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

// A refusal has a kind, which errors.Is finds, and the service's own words.
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

// A write that depends on the order being as it was read.
func ExampleIfMatch() {
	ctx := context.Background()
	acceptAsRead := func(c *client.Client, reference string) error {
		order, err := c.Order(ctx, reference)
		if err != nil {
			return err
		}
		// ... look at the order ...
		err = c.Accept(ctx, reference, client.IfMatch(order.Tag))
		if errors.Is(err, client.ErrPrecondition) {
			return fmt.Errorf("look again: %w", err)
		}
		return err
	}
	_ = acceptAsRead
}

// A program that keeps the number of the last event it has worked on misses
// nothing, however long it was away.
func ExampleClient_Events() {
	ctx := context.Background()
	synchronize := func(c *client.Client, last int64, work func(client.Event) error) (int64, error) {
		for event, err := range c.Events(ctx, last) {
			if err != nil {
				return last, err
			}
			if err := work(event); err != nil {
				return last, err
			}
			last = event.Seq
		}
		return last, nil
	}
	_ = synchronize
}
