// Package order is the domain of the service: orders and their states, money,
// invoice files, events, and the rules by which a merchant or the marketplace
// may change them.
//
// It owns the interfaces it needs (Store, Tx, Files) and imports only the
// standard library. It must not know how orders are stored, what they look like
// on the wire, or which version of the interface a request uses. Every rule and
// every limit is defined here, once; all parts of the service use it.
package order
