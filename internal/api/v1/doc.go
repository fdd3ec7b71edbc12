// Package v1 is version 1 of the merchant interface, below /api: the legacy
// one, which names orders by number and shows them as flat records (spec 2.2,
// 2.3, 4.1, 7.1).
//
// It turns paths, queries and bodies into words of the domain and the domain's
// answers into this version's wire form. It holds no rule, and it must not know
// version 2: either folder could be deleted without the other noticing.
package v1
