// Package client is the Go client of the merchant interface: typed calls of
// version 2, iterators over lists of orders and over the change feed, uploads
// from any reader, retries where they are safe, errors that can be told apart
// by kind.
//
//	c, err := client.New("https://orders.example.com", token)
//	for order, err := range c.Orders(ctx, client.Filter{State: client.Registered}) { ... }
//
// Amounts are integers in the minor unit of the order's currency (cents for
// EUR). Times are UTC in whole seconds; a zero time means that there is none.
//
// Every call takes a context, which ends it, waits between tries included.
// Calls that read are tried again after a cut connection, a time-out and the
// statuses 408, 429, 500, 502, 503 and 504. Calls that write are too, since
// each carries an Idempotency-Key of its own, by which the service knows a
// repetition and gives the first answer again; WithoutWriteRetries is for a
// service that does not.
//
// It is built on the standard library alone and must not know the packages of
// the service: what it knows is the published interface.
package client
