package config

import "strings"

// variablePrefix is the prefix of every environment variable.
const variablePrefix = "MERCHANT_ORDERS_"

// Variable returns the environment variable of a flag: MERCHANT_ORDERS_BASE_URL
// for base-url.
func Variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Error describes one invalid setting.
type Error struct {
	Flag    string // without dashes
	Problem string // such as "must be ..."; never a value that may be secret
}

// Error implements error: the flag, its variable and the problem.
func (f *Error) Error() string {
	return "--" + f.Flag + " (" + Variable(f.Flag) + "): " + f.Problem
}

// Invalid returns an *Error of a flag, or nil if problem is empty.
func Invalid(flag, problem string) error {
	if problem == "" {
		return nil
	}
	return &Error{Flag: flag, Problem: problem}
}
