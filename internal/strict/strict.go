// Package strict parses what decides an action: JSON objects and the values in them.
// Anything ambiguous is refused, with an error that names the member. It does not know
// where a text comes from.
package strict

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"merchantorders/internal/order"
)

// ErrInvalidPayload means that a body does not have the form that its reader expects.
var ErrInvalidPayload = errors.New("invalid payload")

// ParamError says what is wrong with a query parameter, a header or a member of a
// body. Clients may read it.
type ParamError struct {
	Name    string // as the client spells it
	Problem string // follows the name in a sentence
	Hint    string // what is right, for Error-Detail alone; empty: Problem says it
}

// Error implements error.
func (e *ParamError) Error() string { return e.Name + " " + e.Problem }

// plainName is a name that says nothing about a person.
var plainName = regexp.MustCompile(`^[A-Za-z][\w.\[\]-]{0,63}$`)

// Detail implements Detailed.
func (e *ParamError) Detail() string {
	name := "A name"
	if plainName.MatchString(e.Name) {
		name = e.Name
	}
	return name + " " + e.Problem + e.Hint + "."
}

// FirstError is the first error of a text that is parsed. The parsing goes on after
// it, so that only its end looks at it.
type FirstError struct{ err error }

// Err returns the error: a *ParamError, or ErrInvalidPayload. If there is one, values that
// were parsed count for nothing.
func (e *FirstError) Err() error { return e.err }

// Refuse records what is wrong with a parameter or a member; empty: nothing. The hints are those
// of a ParamError.
func (e *FirstError) Refuse(name, problem string, hints ...string) {
	if e.err == nil && problem != "" {
		e.err = &ParamError{Name: name, Problem: problem, Hint: strings.Join(hints, "")}
	}
}

// MaxInt is the largest maximum of Int.
const MaxInt = math.MaxInt64

// ParseInt parses a whole number in plain digits. It also returns what is wrong.
func ParseInt(text string, minimum, maximum int64) (n int64, problem string) {
	n, ok := order.ParseID(text)
	if text == "0" {
		ok = true
	} else if n == 0 {
		ok = false // more than 64 bits
	}
	if ok && n >= minimum && n <= maximum {
		return n, ""
	}
	problem = "must be a whole number from " + strconv.FormatInt(minimum, 10)
	if maximum < MaxInt {
		problem += " to " + strconv.FormatInt(maximum, 10)
	}
	return 0, problem
}

// maxWords is how many bytes of a text of another server are kept.
const maxWords = 300

// Words returns a text of another server for people: one line, cut to 300 bytes, without
// invalid UTF-8.
func Words(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	return strings.ToValidUTF8(text[:min(len(text), maxWords)], "")
}

// maxEcho is how many characters of a client's text a response repeats.
const maxEcho = 256

// Echo returns a text that the client sent in a form that a response may repeat:
// invalid UTF-8 becomes U+FFFD, and a long text is cut.
func Echo(text string) string {
	characters := make([]rune, 0, min(len(text), maxEcho))
	for _, r := range text {
		if len(characters) == maxEcho {
			break
		}
		characters = append(characters, r)
	}
	return string(characters)
}
