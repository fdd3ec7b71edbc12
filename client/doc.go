// Package client is the Go client of version 2 of the merchant interface. It has
// typed calls, iterators over lists of orders and the change feed, uploads from any
// reader, safe retries, and errors with kinds for errors.Is.
//
//	c, err := client.New("https://orders.example.com", token)
//	for order, err := range c.Orders(ctx, client.Filter{State: client.Registered}) { ... }
//
// Amounts are integers in the minor unit of the order's currency (cents for
// EUR). Times are in UTC with whole seconds. The zero time means none.
//
// The context of a call also ends its retries and the waits between them. The
// client retries reads after a broken connection, a time-out and the statuses 408,
// 429, 500, 502, 503 and 504. It retries writes too: each write has an
// Idempotency-Key, so the service recognizes the repetition and replays the first
// response. WithoutWriteRetries is for a service that does not.
//
// The package depends on the standard library only, and on no package of the
// service.
package client
