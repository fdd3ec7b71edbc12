// Package v2 is version 2 of the merchant interface, below /v2: it names orders
// by reference and shows them as nested records (spec 2.4 to 2.6, 4.2, 7.2).
//
// It turns paths, queries and bodies into words of the domain and the domain's
// answers into this version's wire form. It holds no rule, and it must not know
// version 1: either folder could be deleted without the other noticing.
package v2
