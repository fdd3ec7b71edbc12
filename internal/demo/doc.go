// Package demo creates a merchant with about 60 orders for trying the service:
// orders of the last six weeks in every state, some with requests for invoices,
// some of guests, and a few invoice files. It imports and uploads them like real
// orders and files.
//
// All persons, companies, couriers and products are invented (data.json). Phone
// numbers and tax numbers are of ranges that are not assigned.
package demo
