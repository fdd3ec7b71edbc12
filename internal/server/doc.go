// Package server is what the operating system sees of the service: ports, TLS, the
// limits of connections and of time, the stop, and the routes with which load balancers
// and operators look at the process. It knows no route of an interface.
package server
