// Package webhook delivers the change feed to the endpoints of merchants, and the feed of
// all merchants to those of the marketplace. An e-mail address of a merchant is an endpoint
// too: it gets the events since the last e-mail as one.
//
// Each endpoint is a cursor on its feed: the last event that the endpoint has
// acknowledged. Nothing is queued for an event, so none can be lost: a Sender reads the
// events after the cursor, posts them in order, and moves the cursor after each
// acknowledgment. A delivery that fails is repeated with growing pauses. An event may
// therefore arrive more than once, but never out of order.
//
// Several instances share the work. A Sender delivers to an endpoint only while it
// holds the endpoint's lease, which is a row of the database.
//
// Requests and signatures follow the Standard Webhooks specification.
package webhook

import (
	"errors"
	"time"

	"merchantorders/internal/order"
)

// Limits of endpoints.
const (
	// MaxEndpoints is how many endpoints a merchant may have. It also bounds how many
	// requests a single merchant can have in flight.
	MaxEndpoints = 20
	// MaxDescription is the length of the longest description, in bytes.
	MaxDescription = 200
	// MaxOverlap is the longest time for which two secrets sign.
	MaxOverlap = 7 * 24 * time.Hour
	// GiveUpAfter is how long deliveries to an endpoint may fail until it is disabled.
	GiveUpAfter = 3 * 24 * time.Hour
	// GiveUpAttempts is how many of them must have failed by then: as many as the pauses
	// allow. So it does not count that time passes while nothing is attempted, because
	// the merchant is suspended or the service is down.
	GiveUpAttempts = 18
	// warnAfter and warnAttempts are the same for the warning.
	warnAfter    = GiveUpAfter / 2
	warnAttempts = GiveUpAttempts / 2
)

// Limits of the delivery log.
const (
	// MaxDeliveries is how many deliveries the log has of one endpoint.
	MaxDeliveries = 1000
	// MaxOrderDeliveries is how many deliveries of one order are shown.
	MaxOrderDeliveries = 100
	// DeliveryRetention is how long a delivery stays in the log.
	DeliveryRetention = 30 * 24 * time.Hour
	// MaxResponse is how many bytes of a response the log keeps.
	MaxResponse = 1024
)

// The refusals that a caller can distinguish with errors.Is.
var (
	// ErrNotFound: the endpoint does not exist or belongs to another merchant.
	ErrNotFound = errors.New("webhook not found")
	// ErrNoMerchant: the merchant of a new endpoint does not exist.
	ErrNoMerchant = errors.New("no merchant with that id")
	// ErrTooMany: the merchant, or the marketplace, has Endpoint.Max endpoints of the kind.
	ErrTooMany = errors.New("the merchant has the maximum number of webhooks")
	// ErrOrders: the caller may not read what would be delivered. A receiver sees the events
	// that the feed has, also the earlier ones.
	ErrOrders = errors.New("a webhook needs the scope orders:read, because its receiver sees the events of orders")
	// ErrNoHeaderValue: a header has no value, and none is stored to be kept.
	ErrNoHeaderValue = errors.New("a header has no value")
	// ErrNoPassword: a user name has no password, and none is stored to be kept.
	ErrNoPassword = errors.New("a user name has no password")
	// ErrBusy: a delivery to the endpoint is in progress.
	ErrBusy = errors.New("a delivery to the webhook is in progress")
	// ErrNoEvent: the merchant has no event with that number.
	ErrNoEvent = errors.New("the merchant has no event with that number")
	// ErrNotDue: the endpoint has nothing to deliver now, or another Sender has its
	// lease.
	ErrNotDue = errors.New("the webhook is not due")
	// ErrLeaseLost: the endpoint was changed or removed during a delivery, its merchant
	// was suspended, or its lease has ended.
	ErrLeaseLost = errors.New("the lease of the webhook is lost")
)

// State says whether events are delivered to an endpoint. The numbers are stored:
// append, never reorder.
type State uint8

// The states of an endpoint.
const (
	Active   State = iota + 1
	Disabled       // by a request
	Failed         // by the service; Endpoint.Reason says why
	Failing        // as Active, but will be Failed if deliveries go on failing; Endpoint.Reason says why
	Pending        // of an e-mail address: the link in its first e-mail was not used yet
)

// String returns the published name of the state.
func (s State) String() string {
	switch s {
	case Active:
		return "active"
	case Disabled:
		return "disabled"
	case Failed:
		return "failed"
	case Failing:
		return "failing"
	case Pending:
		return "pending"
	}
	return "unknown"
}

// Delivers reports whether events are delivered to an endpoint in the state.
func (s State) Delivers() bool { return s == Active || s == Failing }

// States are the states of a webhook, those that need attention first.
var States = []State{Failed, Failing, Active, Disabled}

// StateNames are the published names of States.
var StateNames = func() []string {
	var names []string
	for _, state := range States {
		names = append(names, state.String())
	}
	return names
}()

// ParseState returns the state with a published name; 0 if there is none.
func ParseState(name string) State {
	for _, state := range States {
		if state.String() == name {
			return state
		}
	}
	return 0
}

// Key identifies an endpoint.
type Key struct {
	MerchantID int64 // or Marketplace
	ID         int64
	Mail       bool // an e-mail address; false: a webhook
}

// Marketplace stands for a merchant where an endpoint receives the events of all, and All
// for the merchant's id.
const (
	Marketplace = 0
	All         = "all"
)

// ParseMerchantID returns the merchant with an id, or Marketplace for All. Another text
// becomes -1, which no merchant has.
func ParseMerchantID(text string) int64 {
	if id, _ := order.ParseID(text); id != 0 {
		return id
	}
	if text == All {
		return Marketplace
	}
	return -1
}

// Endpoint is an address that receives the events of a merchant, or of all.
type Endpoint struct {
	Key
	URL         string // or an e-mail address
	Description string // for people; may be empty
	Types       Types
	Orders      bool // deliveries have the order of their event
	CreatedAt   time.Time
	Access

	Secret Secret
	// OldSecret signs too until OldSecretUntil. It is empty after the first rotation's
	// overlap, and if there was none.
	OldSecret      Secret
	OldSecretUntil time.Time

	State    State
	Reason   string    // why the state is Failed or Failing; empty in the other states
	StateSet time.Time // when the state changed last; zero: never

	// Acknowledged is the cursor: the last event that the endpoint has acknowledged or
	// does not subscribe to. That of a merchant's endpoint has the number alone.
	Acknowledged order.MarketCursor
	// Failures is the number of failed deliveries since the last success, the first of
	// which was at FailingSince. The next one is not before NextAttempt.
	Failures                  int
	FailingSince, NextAttempt time.Time
	// Held are the merchants, of the marketplace's endpoint, whose events it has not all
	// acknowledged up to the cursor, the one whose attempt is next first.
	Held []Held

	// The others are of e-mail addresses. Secret is that of the link by which a recipient
	// ends the e-mails.
	Language string        // code of the language
	Every    time.Duration // at least between two digests of new orders
	SentAt   time.Time     // the last e-mail; zero: none
	// DigestEnd is the last event of the e-mail of which it is not known whether it has
	// arrived: the next attempt covers the same events. Up to Acknowledged: there is none.
	DigestEnd int64
	// LinkHash is the hash of the secret in the link that confirms the address, which is
	// valid until LinkUntil; empty: there is none.
	LinkHash  string
	LinkUntil time.Time
}

// Max returns how many endpoints of its kind the merchant may have.
func (e Endpoint) Max() int64 {
	if e.Mail {
		return MaxAddresses
	}
	return MaxEndpoints
}

// Position returns the cursor for people: the number of an event, for the marketplace
// after its merchant and a slash.
func (e Endpoint) Position() string {
	if e.MerchantID == Marketplace {
		return number(e.Acknowledged.MerchantID) + "/" + number(e.Acknowledged.Seq)
	}
	return number(e.Acknowledged.Seq)
}

// secrets returns the secrets that sign at a time, the newest first.
func (e Endpoint) secrets(now time.Time) []Secret {
	if e.OldSecret != "" && now.Before(e.OldSecretUntil) {
		return []Secret{e.Secret, e.OldSecret}
	}
	return []Secret{e.Secret}
}

// Types is a set of event types. The zero Types has all of them, also those that
// later versions add.
type Types uint32

// NewTypes returns the set of some types, or of all if there are none.
func NewTypes(types ...order.EventType) Types {
	var set Types
	for _, t := range types {
		set |= 1 << t
	}
	return set
}

// Has reports whether the set has a type.
func (set Types) Has(t order.EventType) bool { return set == 0 || set&(1<<t) != 0 }

// List returns the types of the set; none if it has all.
func (set Types) List() []order.EventType {
	var types []order.EventType
	for t := range order.EventType(32) {
		if set&(1<<t) != 0 {
			types = append(types, t)
		}
	}
	return types
}

// ParseType returns the type with a published name.
func ParseType(name string) (order.EventType, bool) {
	for t := order.EventType(1); t.String() != order.EventType(0).String(); t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// TypeNames are the published names of the types that an endpoint may subscribe to.
var TypeNames = func() []string {
	var names []string
	for t := order.EventType(1); t.String() != order.EventType(0).String(); t++ {
		names = append(names, t.String())
	}
	return names
}()

// ParseTypes returns the set of the types with published names; no names mean all. ok is
// false if there is no such type.
func ParseTypes(names []string) (set Types, ok bool) {
	for _, name := range names {
		t, ok := ParseType(name)
		if !ok {
			return 0, false
		}
		set |= NewTypes(t)
	}
	return set, true
}

// Delivery is one attempt to deliver an event, as the log has it.
type Delivery struct {
	ID        int64 // 1, 2, 3, ... for each endpoint
	At        time.Time
	MessageID string
	Event     int64 // number of the event; 0: a test
	// EventMerchant is whose event it is, if the endpoint receives those of all merchants.
	EventMerchant int64
	Type          string // published name of the event's type
	Result
}

// OrderDelivery is a delivery of an event of an order.
type OrderDelivery struct {
	WebhookID int64
	Delivery
}
