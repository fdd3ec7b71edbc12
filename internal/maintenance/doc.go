// Package maintenance has what the maintenance commands share: the
// installation they work on, findings and progress, and the invoice files that
// an installation must have. The commands are in its subpackages:
//
//	check    verifies an installation
//	copier   copies an installation to another database and storage
//	backup   backs up and restores an embedded installation
//	citus    distributes the tables over a Citus cluster
//
// These packages read and write tables directly: they move or verify rows
// without the rules of package order.
package maintenance
