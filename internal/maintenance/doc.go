// Package maintenance has what the commands for operators share: the
// installation they work on, what they report, and the stored files of its
// invoices. The commands are its subpackages: check, copier, backup and citus.
package maintenance
