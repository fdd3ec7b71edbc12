// Package ingest reads the order document of decision 7, the only form in which
// the service accepts orders. Parse reads one document, Import a stream of
// documents, one a line.
//
// Parsing is strict: anything ambiguous is invalid, with a message that names
// the field. Parse also fills in the defaults. The digest covers the result, so
// two spellings of the same content have the same digest.
//
// The package does not know where documents come from or where orders are
// stored. The store checks whether the merchant exists and whether a reference
// is taken.
package ingest
