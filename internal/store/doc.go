// Package store keeps orders, invoice entries, events, merchants and tokens in
// a database, through the interface of its own that each driver has. It
// implements order.Store and token.Store.
//
// There is one SQL text for all databases; what differs stands in a dialect.
// Statements number their parameters $1, $2, ... in the order of their first
// appearance, name every column, and name the merchant in every WHERE, also
// where another key is unique already: a slip elsewhere then shows nobody
// another merchant's order, and the data can be spread by merchant.
//
// The package must not know HTTP, JSON on the wire, or any rule: which move is
// legal and how many files an order may have is decided in package order.
package store
