// Package ingest reads the order document of decision 7, the one form in which
// orders come into the service, and turns it into order.Incoming: Parse for a
// single document, Import for a stream of them, one a line.
//
// A document is read strictly: whatever is not certain to be meant is refused
// with a message that names the field. What is absent takes its default here,
// and the digest by which a repeated document is known is computed over the
// result, so that another spelling of the same content is the same content.
//
// The package must not know where documents come from (a file, a pipe, an HTTP
// body) nor where orders go: both are handed to it. Whether a merchant exists
// and whether a reference is taken is the store's to say.
package ingest
