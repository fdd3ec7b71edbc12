// Package storageapi serves stored invoice files to the merchant that owns them,
// below /storage (decision 6). The URLs in orders lead here unless the service is
// configured with another storage URL.
//
// It does not know how files are stored and does not inspect their content. It
// makes sure that a browser does not run what a merchant uploaded.
package storageapi
