// Package docpages serves the description of the service to everyone who asks:
// the OpenAPI documents below /openapi, and below /docs a guide in plain pages
// and each document to read and to try out. All comes from the program itself,
// nothing from elsewhere.
//
// It must not know orders, tokens or how anything is stored: what the pages say
// is in openapi and docs.
package docpages
