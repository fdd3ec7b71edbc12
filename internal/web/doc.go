// Package web is the HTTP layer that all parts of the service share: routing,
// errors, authentication, the request log, JSON, query parameters, conditional requests,
// and the response cache. What comes before a request is in package server.
//
// Of an order it knows the legacy id and the revision, for the entity tag. It
// knows neither the other fields of an order, nor the representation of any
// version, nor SQL: the handlers and the ErrorEncoder of each RouteGroup decide
// what a client reads.
package web
