// Package order is the domain of the service: orders and their states, money,
// invoice files, events, and the rules by which a merchant or the marketplace
// may change them.
//
// It owns the interfaces it needs (Store, Tx, Files) and imports the standard
// library only. It must not know how orders are stored, how they look on the
// wire, or which version of the interface a request came through; a rule or a
// limit stands here once, and every door to the service goes through it.
package order
