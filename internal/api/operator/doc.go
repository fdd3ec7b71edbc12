// Package operator is the marketplace's side of the service, below /operator:
// orders in, states on, merchants and tokens (decisions 1, 2 and 7). Its tokens
// are the operator's own and good for nothing else.
//
// It must not know the merchant interface, and it holds no rule: what an order
// document may say is ingest's to decide, what may happen to an order the
// domain's.
package operator
