package order

import (
	"errors"
	"regexp"
	"sync"
	"time"

	// The time zones are part of the program: minimal images have none.
	_ "time/tzdata"
)

// errTimeZone says that a text is not the name of a time zone.
var errTimeZone = errors.New("must be the name of a time zone, such as Europe/Athens or UTC")

// timeZoneName matches the names of the IANA database. The folder of a system has more
// files, among them zones that count leap seconds.
var timeZoneName = regexp.MustCompile(`^(UTC|[A-Z][A-Za-z]+(/[A-Z][A-Za-z0-9_+-]*){1,2})$`)

// timeZones has the time zones that were loaded, by name.
var timeZones sync.Map

// LoadTimeZone returns the time zone with a name of the IANA database. The error says
// what is wrong, as TimeZoneProblem does.
func LoadTimeZone(name string) (*time.Location, error) {
	if zone, ok := timeZones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if !timeZoneName.MatchString(name) {
		return nil, errTimeZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errTimeZone
	}
	timeZones.Store(name, zone)
	return zone, nil
}

// TimeZoneProblem returns what is wrong with the name of a time zone, as a phrase that
// follows the name of the field. It returns "" for a valid name.
func TimeZoneProblem(name string) string {
	if _, err := LoadTimeZone(name); err != nil {
		return err.Error()
	}
	return ""
}
