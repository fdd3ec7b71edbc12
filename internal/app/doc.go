// Package app is the command line. It parses flags and environment variables,
// opens the database and the storage, wires the packages of the service together
// and runs one command.
//
// It is the only package that imports all others. It contains no rules of the
// domain and no SQL. It never exits: Run returns the exit code, so that tests
// run the same code as the program.
package app
