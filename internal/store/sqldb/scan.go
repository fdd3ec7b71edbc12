package sqldb

import (
	"errors"
	"fmt"
	"time"
)

// IntScanner is a Scan destination for an integer column. n is 0 for NULL.
type IntScanner interface {
	ScanInt(n int64, null bool) error
}

// Int returns a Scan destination for a variable of any integer type. Scan
// returns an error if the number does not fit, and for NULL.
func Int[T integer](variable *T) IntScanner { return intScanner[T]{variable} }

type intScanner[T integer] struct{ variable *T }

// ScanInt implements IntScanner.
func (s intScanner[T]) ScanInt(n int64, null bool) error {
	value := T(n)
	if null {
		return errors.New("the value is NULL")
	}
	if int64(value) != n || (value < 0) != (n < 0) {
		return fmt.Errorf("%d does not fit into a %T", n, value)
	}
	*s.variable = value
	return nil
}

// IntOrZero is Int for a column where NULL stands for 0.
func IntOrZero[T integer](variable *T) IntScanner { return orZero{Int(variable)} }

type orZero struct{ IntScanner }

// ScanInt implements IntScanner.
func (s orZero) ScanInt(n int64, _ bool) error { return s.IntScanner.ScanInt(n, false) }

// Time returns a Scan destination for a time in Unix seconds; NULL is the zero time.
func Time(at *time.Time) IntScanner { return (*unixTime)(at) }

type unixTime time.Time

// ScanInt implements IntScanner.
func (t *unixTime) ScanInt(n int64, null bool) error {
	*t = unixTime{}
	if !null {
		*t = unixTime(time.Unix(n, 0).UTC())
	}
	return nil
}

// Flag returns a Scan destination for a flag that is stored as 1 or 0.
func Flag(yes *bool) IntScanner { return (*flag)(yes) }

type flag bool

// ScanInt implements IntScanner.
func (f *flag) ScanInt(n int64, _ bool) error {
	*f = n != 0
	return nil
}

// NotNull returns a Scan destination for whether a column has a number.
func NotNull(yes *bool) IntScanner { return (*notNull)(yes) }

type notNull bool

// ScanInt implements IntScanner.
func (f *notNull) ScanInt(_ int64, null bool) error {
	*f = notNull(!null)
	return nil
}

// TextOrEmpty is a text that is empty for NULL.
type TextOrEmpty string

// OrEmpty returns a Scan destination for a text that is empty for NULL.
func OrEmpty(text *string) *TextOrEmpty { return (*TextOrEmpty)(text) }
