// Package apptest runs the whole service for end-to-end tests: a server in this
// process (Start) or as a process that can be killed (StartProcess), on a free
// port and a new data folder, and its command line (Run).
//
// It uses commands.Run and the built program only, so that a test sees what a user
// sees. It checks nothing but that they work.
package apptest
