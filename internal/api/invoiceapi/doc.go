// Package invoiceapi holds the forms of invoice upload and delete, which are
// the same in both versions apart from the order's identifier (spec 4.3, 4.4).
//
// It must not know how a version spells its orders, nor the rules for invoice
// files: it reads what a client sent, asks order.Service, and writes what the
// specification publishes.
package invoiceapi
