// Package copier copies an installation to another database, another storage
// or both, while servers work on the source. It copies rows as they are and
// verifies the target at the end.
//
// It must not interpret rows more than needed to find what belongs together:
// the rules of orders are in package order.
package copier
