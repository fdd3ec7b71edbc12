// Package docpages serves the documentation of the service to everybody: the
// OpenAPI documents below /openapi, and below /docs the guide and a page for each
// document where it can be read and tried. Everything is embedded in the program;
// the pages load nothing from elsewhere.
//
// It knows nothing of orders, tokens or storage. What the pages say is in packages
// openapi and docs.
package docpages
