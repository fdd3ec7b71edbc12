// Package check looks whether an installation is whole: whether what the
// database says fits together, and whether every file is there that it speaks
// of, byte for byte. It changes nothing, and may be run beside servers.
//
// It must not know where the database and the files are, nor repair anything.
// What it says names merchants, orders and invoices by their numbers, never a
// file name or anything else that could be personal.
package check
