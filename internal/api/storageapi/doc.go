// Package storageapi serves the stored invoice files to the merchant that owns
// them, below /storage (decision 6). The addresses in the orders lead here
// unless they are set to lead elsewhere.
//
// It must not know how files are kept, nor judge what is in them: it makes sure
// that a browser will not run what a merchant uploaded.
package storageapi
