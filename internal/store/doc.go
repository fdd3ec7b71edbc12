// Package store implements order.Store and token.Store in SQL. It stores orders,
// invoice entries, events, idempotency records, merchants and tokens.
//
// One SQL text works on all databases; what differs is in package sqldb and a
// sqldb.Dialect. Statements number their parameters $1, $2, ... in the order of
// their first appearance, name every column, and name the merchant in every
// WHERE, even where another key is unique: so no mistake elsewhere can show a
// merchant another one's order, and the data can be distributed by merchant.
//
// The package knows neither HTTP nor JSON nor any rule: package order decides
// which transitions are allowed and how many files an order may have.
package store
