package sqldb

import "fmt"

// integer is any integer type.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// IntScanner is a Scan destination for an integer column.
type IntScanner interface {
	ScanInt(n int64) error
}

// Int returns a Scan destination for a variable of any integer type. Scan
// returns an error if the number does not fit.
func Int[T integer](variable *T) IntScanner { return intScanner[T]{variable} }

type intScanner[T integer] struct{ variable *T }

// ScanInt implements IntScanner.
func (s intScanner[T]) ScanInt(n int64) error {
	value := T(n)
	if int64(value) != n || (value < 0) != (n < 0) {
		return fmt.Errorf("%d does not fit into a %T", n, value)
	}
	*s.variable = value
	return nil
}
