// Package check verifies an installation: the rows of the database agree with
// each other, and every invoice file is in the storage and has the size and the
// SHA-256 of its entry. It changes nothing and repairs nothing, and may run
// beside servers.
//
// A finding names the path of an invoice file because an operator needs it to
// put the file back. The package reports no other personal data.
package check
