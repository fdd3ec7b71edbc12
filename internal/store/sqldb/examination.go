package sqldb

import "time"

// Examination is what a database tells of itself and of the rights of its user.
type Examination struct {
	Product  string    // with its version; empty: it is part of the program
	Now      time.Time // the clock of the server; zero: that of this machine
	Unusable *Flaw     // why the service cannot work on it; nil: it can
	Lacking  *Flaw     // the rights that the user lacks; nil: none
	Rights   string    // that the user has, if none is lacking
	Advice   []Flaw    // the service works, but not as it should
}

// Flaw is something wrong with a database.
type Flaw struct {
	Problem string
	Advice  string // what to do
}
