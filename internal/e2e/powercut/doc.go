// Package powercut holds the tests of a power cut: what was acknowledged is there when the
// power is back.
//
// It is tests only. The data folder is on a file system in memory (see disk), mounted with
// FUSE, which forgets at a cut what was not synced. The built program runs on it as
// processes, and is looked at through its interfaces, commands and exit codes only.
//
// This process must never open a file on that file system: it serves it, and would wait for
// itself.
package powercut
