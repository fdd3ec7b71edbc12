// Package openapitest holds a running service to its OpenAPI documents: what
// goes over the wire in a test is looked up in them, and whatever they do not
// describe is a fault. It reads the examples of the documents too, for the test
// that sends them.
//
// It serves tests only, and must know nothing of the service but its documents.
package openapitest
