// Package v2 is version 2 of the merchant interface, below /v2: it identifies
// orders by their reference and shows them as nested records (spec 2.4 to 2.6, 4.2,
// 7.2).
//
// It translates between HTTP and order.Service and holds no business rule. It does
// not know version 1: either folder could be deleted without the other.
package v2
