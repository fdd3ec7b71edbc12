// Package filestore has what the storages of invoice files share: which paths
// are valid, and errors that do not reveal a path. The storages themselves are
// disk and s3; both implement order.Files, and both pass filestoretest.
//
// A storage does not know what an invoice is or who owns it. A stored file is
// bytes under a path, written once and never changed. Clients choose the file
// names and errors are logged, so no error contains a path.
package filestore
