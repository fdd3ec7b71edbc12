// Package app is the command line: it reads what was typed and set, opens
// database and files, puts the parts of the service together and runs one
// command.
//
// It is the only package that knows them all. It must hold no rule of the
// domain and no SQL, and it ends no process: Run returns the exit code, so
// that tests run the very same code.
package app
