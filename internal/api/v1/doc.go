// Package v1 is version 1 of the merchant interface, below /api: the legacy one,
// which identifies orders by their legacy id and shows them as flat records (spec
// 2.2, 2.3, 4.1, 7.1).
//
// It translates between HTTP and order.Service and holds no business rule. It does
// not know version 2: either folder could be deleted without the other.
package v1
