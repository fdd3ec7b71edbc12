// Package delivery brings the events of merchants to the endpoints that ask for them, over
// the senders of each kind of endpoint: those of webhooks and those of e-mail addresses.
//
// Each endpoint is a cursor on its feed: the last event that the endpoint has
// acknowledged. Nothing is queued for an event, so none can be lost: a Worker reads the
// events after the cursor, gives them to the sender in order, and moves the cursor after each
// acknowledgment. A delivery that fails is repeated with growing pauses. An event may
// therefore arrive more than once, but never out of order.
//
// Several instances share the work. A Worker delivers to an endpoint only while it
// holds the endpoint's lease, which is a row of the database.
package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/order"
)

const (
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

// The refusals that a caller can distinguish with errors.Is.
var (
	// ErrNotFound: the endpoint does not exist or belongs to another merchant.
	ErrNotFound = errors.New("webhook not found")
	// ErrNoMerchant: the merchant of a new endpoint does not exist.
	ErrNoMerchant = errors.New("no merchant with that id")
	// ErrTooMany: the merchant, or the marketplace, has the maximum of endpoints of the kind.
	ErrTooMany = errors.New("the merchant has the maximum number of webhooks")
	// ErrOrders: the caller may not read what would be delivered. A receiver sees the events
	// that the feed has, also the earlier ones.
	ErrOrders = errors.New("a webhook needs the scope orders:read, because its receiver sees the events of orders")
	// ErrNotDue: the endpoint has nothing to deliver now, or another Worker has its
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
	Failed         // by the service; Cursor.Reason says why
	Failing        // as Active, but will be Failed if deliveries go on failing; Cursor.Reason says why
	Pending        // its receiver has not confirmed it yet
)

var stateNames = [...]string{"unknown", "active", "disabled", "failed", "failing", "pending"}

// String returns the published name of the state.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[0]
}

// Delivers reports whether events are delivered to an endpoint in the state.
func (s State) Delivers() bool { return s == Active || s == Failing }

// Kind is a kind of endpoints, which says how they get their events. The numbers are stored;
// each is that of a sender.
type Kind uint8

// Key identifies an endpoint.
type Key struct {
	MerchantID int64 // or Marketplace
	ID         int64
	Kind       Kind
}

// Marketplace stands for a merchant where an endpoint receives the events of all.
const Marketplace = 0

// Cursor is what all endpoints have: which events they want, and which they have
// acknowledged.
type Cursor struct {
	Key
	Types     Types
	CreatedAt time.Time

	State    State
	Reason   string    // why the state is Failed or Failing; empty in the other states
	StateSet time.Time // when the state changed last; zero: never

	// Acknowledged is the last event that the endpoint has acknowledged or does not subscribe
	// to. That of a merchant's endpoint has the number alone.
	Acknowledged order.MarketCursor
	Backoff
	// Held are the merchants, of the marketplace's endpoint, whose events it has not all
	// acknowledged up to the cursor, the one whose attempt is next first.
	Held []Held

	// SentAt is when several events were sent as one the last time; zero: never.
	SentAt time.Time
	// Batch is how many of the next events that the endpoint wants are sent as one, so that
	// each attempt has the same; 0: it is not known yet. A negative number counts those that are
	// sent one by one, because the endpoint has refused them as one.
	Batch int
}

// Backoff counts the failed deliveries since the last success, the first of which was at
// FailingSince. The next one is not before NextAttempt. The names of the fields are stored.
type Backoff struct {
	Failures                  int       `json:",omitzero"`
	FailingSince, NextAttempt time.Time `json:",omitzero"`
}

// Position returns the cursor for people: the number of an event, for the marketplace
// after its merchant and a slash.
func (c Cursor) Position() string {
	seq := strconv.FormatInt(c.Acknowledged.Seq, 10)
	if c.MerchantID == Marketplace {
		return strconv.FormatInt(c.Acknowledged.MerchantID, 10) + "/" + seq
	}
	return seq
}

// Audit returns an entry of the audit log about the endpoint.
func (c Cursor) Audit(action order.AuditAction, at time.Time, caller order.Caller, detail string) order.AuditEntry {
	return order.AuditEntry{MerchantID: c.MerchantID, At: at, Action: action, By: caller, SubjectID: c.ID, Detail: detail}
}

// wanted returns those of some events that the endpoint wants now.
func (c Cursor) wanted(events []order.EventRecord) (wanted []order.EventRecord) {
	for _, event := range events {
		if c.Types.Has(event.Type) && c.held(event.MerchantID) < 0 {
			wanted = append(wanted, event)
		}
	}
	return wanted
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

// SecretPrefix begins the text of every secret that signs. Secret scanners find leaked secrets
// by it.
const SecretPrefix = "whsec_"

// Secret is a text that no log may have, such as what signs deliveries or what a gateway before
// a receiver asks for. The conversion to string is the text; printing it shows only SecretPrefix.
type Secret string

// String implements fmt.Stringer without the text.
func (s Secret) String() string {
	if strings.HasPrefix(string(s), SecretPrefix) {
		return SecretPrefix + "..."
	}
	return "..."
}

// Format implements fmt.Formatter, so that no verb prints the text.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(s.String())) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// The values of Result.Error.
const (
	ErrorStatus     = "status"     // the status is not one of a success
	ErrorTimeout    = "timeout"    // no complete response in time
	ErrorAddress    = "address"    // the host has an address that is not public
	ErrorResolve    = "resolve"    // the host name has no address
	ErrorTLS        = "tls"        // the certificate is not valid, or no TLS
	ErrorConnection = "connection" // no connection, or it broke
	ErrorRefused    = "refused"    // the recipient's address leads nowhere
	ErrorServer     = "server"     // the server between refuses, for now or because of the sender or itself
)

// Result is how an attempt to deliver ended.
type Result struct {
	Status   int    // of the response; 0: none
	Error    string // one of the constants above; empty: the endpoint has acknowledged
	Took     time.Duration
	Response string // the first bytes of the response's body, or the words of the server
	// RetryAfter is how long the endpoint asks to wait; 0: it does not.
	RetryAfter time.Duration
	Gone       string // how the endpoint has said that it wants no events any more; empty: it has not
	Blameless  bool   // the error says nothing of the endpoint
}

// problems are the values of Result.Error for people.
var problems = map[string]string{
	ErrorTimeout: "no response in time", ErrorAddress: "an address that is not public", ErrorResolve: "a host name without an address",
	ErrorRefused: "a refusal", ErrorTLS: "a certificate that is not valid", ErrorConnection: "a broken connection",
}

// problem returns the error of a result for people.
func (r Result) problem() string {
	if r.Error == ErrorStatus {
		return "the status " + strconv.Itoa(r.Status)
	}
	return cmp.Or(problems[r.Error], problems[ErrorConnection])
}

// Attempt is one attempt to deliver an event, as the log of deliveries has it.
type Attempt struct {
	WebhookID int64 // of the endpoint; only what the log returns has it
	ID        int64 // 1, 2, 3, ... for each endpoint
	At        time.Time
	MessageID string
	Event     int64 // number of the event, of a batch its first; 0: a test
	// EventMerchant is whose event it is, if the endpoint receives those of all merchants.
	EventMerchant int64
	Events        int    // how many events it has
	LastEvent     int64  // number of the last one
	Type          string // published name of the event's type
	Result
}

// Several returns how many events the attempt has, for views that show it only then; 0: one, or
// none.
func (a Attempt) Several() int {
	if a.Events > 1 {
		return a.Events
	}
	return 0
}

// Counts counts by result.
type Counts struct {
	mu     sync.Mutex
	counts map[string]uint64
}

// NewCounts returns Counts of 0 for all results, so that each metric exists from the start.
func NewCounts(results ...string) *Counts {
	c := &Counts{counts: make(map[string]uint64)}
	for _, name := range results {
		c.counts[name] = 0
	}
	return c
}

// Add counts a result.
func (c *Counts) Add(result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[result]++
}

// All returns the counts.
func (c *Counts) All() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}
