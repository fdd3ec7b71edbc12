// Package e2e holds the conformance suite: what the specification and the
// decisions promise, asked of the whole service through its own port and its
// command line, as a stranger would.
//
// It must not know how the service is made. What it expects is written out
// here, in texts and JSON, and never taken from the packages under test; what
// it does to a backend goes through HTTP and the command line, so that every
// scenario runs over every database and every file store.
package e2e
