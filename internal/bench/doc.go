// Package bench measures how fast and how big the service is, as its users
// meet it: the built program, as processes, over its command line and its HTTP
// port, on SQLite and on PostgreSQL, beside the least that such answers and
// such writes cost on the same machine in the same minute. It prints figures
// and judges none of them.
//
// It must not know what is inside the service, so that the same run can be
// repeated on any version of it. The one exception is bare.go: a bare query
// needs the names of a table.
package bench
