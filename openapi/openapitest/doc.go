// Package openapitest checks that a running service does what its OpenAPI documents
// say: every request and response in a test is looked up in them, and everything that
// they do not describe fails the test. It also reads the examples in the documents,
// for the test that sends them.
//
// It validates with the jsonschema package and not with kin-openapi's validators. Those
// compile a schema of OpenAPI 3.1 at every call (2.2 ms for a list instead of 0.06 ms),
// and do not check HEAD, 304 and headers that are not described.
//
// It serves tests only and knows nothing of the service but its documents.
package openapitest
