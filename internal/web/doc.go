// Package web is the HTTP plumbing that every part of the service shares:
// routes and handlers that return errors, who is asking, the request's id, log
// line and figures, JSON in and out, query parameters, the server's limits.
//
// It must not know an order, a version's wire form or SQL: what a client reads
// is decided by the ErrorForm and the handlers of each Section.
package web
