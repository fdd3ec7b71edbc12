// Package operator is the marketplace's interface, below /operator: importing
// orders, moving them between states, merchants and tokens (decisions 1, 2 and 7).
// Its routes accept operators' tokens only.
//
// It does not know the merchant interface and holds no business rule: package
// ingest decides what an order document may contain, package order what may happen
// to an order.
package operator
