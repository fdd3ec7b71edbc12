// Package bench measures how fast and how big the service is, as its users
// meet it: the built program, as processes, over its command line and its HTTP
// port. It prints figures and judges none of them.
//
// It must not know what is inside the service, so that the same run can be
// repeated on any version of it.
package bench
