// Package robust holds the tests of what happens when everything goes wrong at
// once: simultaneous changes, processes killed in the middle, full disks, slow
// and hostile clients, commands beside a running server.
//
// It is tests only, and each drives the built program as processes on a real
// port. It must not know what is inside: it looks at responses, exit codes, the
// log, the files in the data folder, /proc and, for what no interface shows
// yet, the events table.
package robust
