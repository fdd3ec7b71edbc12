// Package apptest is what end-to-end tests begin with: the whole service,
// started as a person starts it, on a free port and a data folder of its own,
// in this process (Start) or as a process that can be killed (StartProcess),
// and its command line (Run).
//
// It goes through app.Run and the built program only, so that a test sees what
// a user sees. It must hold no checks of its own beyond what it needs.
package apptest
