// Package filestore keeps the bytes of invoice files: order.Files on a local
// folder (Disk).
//
// It must not know what an invoice is, who owns it or what is in it: a file is
// bytes under a path, written once and never changed. Its errors never carry
// the path, since clients choose the file names and the errors go to the log.
package filestore
