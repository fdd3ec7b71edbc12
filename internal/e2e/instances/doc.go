// Package instances holds the tests of several instances of the service on one
// database and one storage, and of what becomes of requests when either fails:
// stops, hangs, is cut off half-way, or cannot be opened to begin with. TestSoak has
// all of that happen for a long time; its files are named soak_*.
//
// It is tests only, and each drives the service through its real port, against
// real servers that it starts itself. It must not know what is inside: it looks
// at responses, exit codes, the log and the metrics, and, for what no interface
// shows yet, the tables.
package instances
