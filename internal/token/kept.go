package token

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// KeptKind is what the console keeps for people.
type KeptKind int

// The kinds. Their numbers are stored.
const (
	KeptView   KeptKind = 1 // a view of the orders, by its name
	KeptResult KeptKind = 2 // what a change of many orders did, by the key of its form
)

// MaxViews is how many views a person has.
const MaxViews = 20

// maxKept is how much of a kind is kept for the people of a merchant together: the newest.
var maxKept = map[KeptKind]int{KeptView: 100 * MaxViews, KeptResult: 200}

// Errors of KeepView.
var (
	ErrViewExists   = errors.New("the person has another view with this name")
	ErrTooManyViews = errors.New("the person has too many views")
)

// Kept is something that is kept.
type Kept struct {
	Name, Value string
	At          time.Time
}

// keeper returns for whom things of a session are kept: everybody with the name of the person,
// or who signs in with the token.
func (s Session) keeper() string {
	if name := s.Person(); name != "" {
		return name
	}
	return "#" + strconv.FormatInt(s.TokenID, 10)
}

// Keep keeps something for the person of a session of a merchant, in place of what has its name.
func (s *Sessions) Keep(ctx context.Context, merchantID int64, session Session, kind KeptKind, name, value string) error {
	return s.store.Keep(ctx, merchantID, kind, session.keeper(), Kept{name, value, s.now()}, maxKept[kind], nil)
}

// KeepView keeps a view for the person of a session of a merchant, in place of the one that was
// named was; empty: it is new. Errors: ErrViewExists, ErrTooManyViews.
func (s *Sessions) KeepView(ctx context.Context, merchantID int64, session Session, was, name, value string) error {
	return s.store.Keep(ctx, merchantID, KeptView, session.keeper(), Kept{name, value, s.now()}, maxKept[KeptView], func(kept []Kept) (string, error) {
		find := func(name string) int { return slices.IndexFunc(kept, func(k Kept) bool { return k.Name == name }) }
		if i := find(name); i >= 0 && name != was && kept[i].Value != value { // the same one: a repetition
			return "", ErrViewExists
		} else if i < 0 && find(was) < 0 && len(kept) >= MaxViews {
			return "", ErrTooManyViews
		}
		return cmp.Or(was, name), nil
	})
}

// Kept returns what is kept for the person of a session of a merchant, the newest first.
func (s *Sessions) Kept(ctx context.Context, merchantID int64, session Session, kind KeptKind) ([]Kept, error) {
	return s.store.Kept(ctx, merchantID, kind, session.keeper())
}

// Forget deletes what is kept under a name.
func (s *Sessions) Forget(ctx context.Context, merchantID int64, session Session, kind KeptKind, name string) error {
	return s.store.Forget(ctx, merchantID, kind, session.keeper(), name)
}
