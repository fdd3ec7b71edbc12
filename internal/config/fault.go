package config

import "strings"

// variablePrefix begins the name of every environment variable that is read.
const variablePrefix = "MERCHANT_ORDERS_"

// Variable returns the environment variable that sets the same as a flag:
// MERCHANT_ORDERS_BASE_URL for base-url.
func Variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Error says what is wrong with one setting.
type Error struct {
	Flag    string // without dashes
	Problem string // "must be ...", without the value where it could be secret
}

// Error implements error: the flag, its variable and the problem.
func (f *Error) Error() string {
	return "--" + f.Flag + " (" + Variable(f.Flag) + "): " + f.Problem
}

// Invalid turns the problem that a check found into a *Error of a flag, and no
// problem, empty text, into nil.
func Invalid(flag, problem string) error {
	if problem == "" {
		return nil
	}
	return &Error{Flag: flag, Problem: problem}
}
