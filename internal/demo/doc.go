// Package demo makes a merchant with orders to try the service on: Greek
// names and addresses, orders of the last six weeks in every state, requests
// for invoices, guests, a few invoice files. Everything goes in by the same
// doors as real orders and files do.
//
// Persons, companies, couriers and goods are invented; numbers and addresses
// are of forms that reach nobody. The package must not know how a server is
// started or how tokens look.
package demo
