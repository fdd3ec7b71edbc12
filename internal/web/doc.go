// Package web is the HTTP plumbing that every part of the service shares:
// routes and handlers that return errors, who is asking, the request's id, log
// line and figures, JSON in and out, query parameters, the conditions and keys
// under which a change is asked for, the server's limits.
//
// Of an order it knows the number and the revision, for its entity tag. It must
// not know what else an order has, a version's wire form or SQL: what a client
// reads is decided by the ErrorForm and the handlers of each Section.
package web
