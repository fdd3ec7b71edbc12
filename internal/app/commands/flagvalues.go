package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// flagValues parses the values of flags and collects what is wrong with them, so that all
// faults of a command line are reported.
type flagValues struct{ faults []error }

// refuse adds a problem of a flag; an empty text is no problem.
func (f *flagValues) refuse(flag, problem string) {
	f.faults = append(f.faults, config.Invalid(flag, problem))
}

// err returns all faults.
func (f *flagValues) err() error { return errors.Join(f.faults...) }

// id parses an id.
func (f *flagValues) id(flag, text string) int64 {
	id, problem := positive(text)
	f.refuse(flag, problem)
	return id
}

// optionalID is id; 0 for empty text.
func (f *flagValues) optionalID(flag, text string) int64 {
	if text == "" {
		return 0
	}
	return f.id(flag, text)
}

// positive parses an id. It also returns what is wrong with it; empty text if it is valid.
func positive(text string) (int64, string) {
	if text == "" {
		return 0, "is required"
	}
	id, ok := order.ParseID(text)
	if !ok || id == 0 {
		return 0, "must be a whole number from 1"
	}
	return id, ""
}

// upTo parses a number from 1 to a maximum.
func (f *flagValues) upTo(flag, text string, maximum int) int {
	n, problem := positive(text)
	if problem == "" && n > int64(maximum) {
		problem = "must be a whole number from 1 to " + strconv.Itoa(maximum)
	}
	f.refuse(flag, problem)
	return int(n)
}

// wholeNumber parses a whole number from 0 to max.
func (f *flagValues) wholeNumber(flag, text string, max uint64) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > max {
		f.refuse(flag, fmt.Sprintf("must be a whole number from 0 to %d", max))
	}
	return n
}

// number parses a number from min to max.
func (f *flagValues) number(flag, text string, min, max float64) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= min && n <= max) {
		f.refuse(flag, fmt.Sprintf("must be a number from %v to %v", min, max))
	}
	return n
}

// duration parses a duration.
func (f *flagValues) duration(flag, text string) time.Duration {
	d, ok := order.ParseDuration(text)
	if !ok {
		f.refuse(flag, "must be a duration such as 90d, 2160h or 30s")
	}
	return d
}

// expiry parses the expiry of a token; zero for empty text.
func (f *flagValues) expiry(flag, text string) token.Expiry {
	expiry, ok := token.ParseExpiry(text)
	if !ok && text != "" {
		f.refuse(flag, token.ExpiryForm)
	}
	return expiry
}

// day parses a day; order.NoDay for empty text.
func (f *flagValues) day(flag, text string) order.Day {
	if text == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(text)
	if !ok {
		f.refuse(flag, "must be a day such as 2026-11-20")
	}
	return day
}

// days parses the first and the last day of a period.
func (f *flagValues) days(from, to string) (first, last order.Day) {
	if first, last = f.day("from", from), f.day("to", to); first != order.NoDay && last != order.NoDay && first > last {
		f.refuse("from", "is after --to")
	}
	return first, last
}

// dayStart is day as the time of its start in UTC; the zero time for empty text.
func (f *flagValues) dayStart(flag, text string) time.Time {
	if day := f.day(flag, text); day != order.NoDay {
		return day.Start()
	}
	return time.Time{}
}

// holder reads --merchant, --operator and --scopes: who gets a token, 0 an operator, and
// its scopes.
func (f *flagValues) holder(merchant string, operator bool, scopes string) (merchantID int64, granted order.Scope) {
	otherwise := order.DefaultScopes
	if operator {
		otherwise = order.OperatorScopes
	}
	switch {
	case operator && merchant != "":
		f.refuse("merchant", "must not be given together with --operator")
	case !operator && merchant == "":
		f.refuse("merchant", "or --operator is required")
	case !operator:
		merchantID = f.id("merchant", merchant)
	}
	return merchantID, f.scopes("scopes", scopes, otherwise, order.ScopesOf(operator))
}

// scopes parses a list of scopes, separated by commas, each of which must be allowed.
func (f *flagValues) scopes(flag, text string, otherwise, allowed order.Scope) order.Scope {
	if text == "" {
		return otherwise
	}
	return f.scopeNames(flag, strings.Split(strings.ReplaceAll(text, " ", ""), ","), allowed)
}

// scopeNames parses the names of scopes, each of which must be allowed.
func (f *flagValues) scopeNames(flag string, names []string, allowed order.Scope) order.Scope {
	scopes, err := order.ParseScopes(names, allowed)
	if err != nil {
		f.refuse(flag, err.Error())
	}
	return scopes
}
