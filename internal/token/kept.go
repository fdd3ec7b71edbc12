package token

import (
	"context"
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

// MaxKept is how much of a kind is kept for the people of a merchant together: the newest.
const MaxKept = 200

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
	return s.store.Keep(ctx, merchantID, kind, session.keeper(), Kept{name, value, s.now()}, MaxKept)
}

// Kept returns what is kept for the person of a session of a merchant, the newest first.
func (s *Sessions) Kept(ctx context.Context, merchantID int64, session Session, kind KeptKind) ([]Kept, error) {
	return s.store.Kept(ctx, merchantID, kind, session.keeper())
}

// Forget deletes what is kept under a name.
func (s *Sessions) Forget(ctx context.Context, merchantID int64, session Session, kind KeptKind, name string) error {
	return s.store.Forget(ctx, merchantID, kind, session.keeper(), name)
}
