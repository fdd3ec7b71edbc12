// Package webhook delivers the events of merchants to their servers, and those of all to the
// marketplace's, over HTTP.
//
// Requests and signatures follow the Standard Webhooks specification.
package webhook

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Kind is the kind of webhooks.
const Kind delivery.Kind = 0

// Limits of endpoints.
const (
	// MaxEndpoints is how many endpoints a merchant may have. It also bounds how many
	// requests a single merchant can have in flight.
	MaxEndpoints = 20
	// MaxDescription is the length of the longest description, in bytes.
	MaxDescription = 200
	// MaxBatch is how many events a delivery has at most, and maxBatchBytes how long its body is
	// if it has several.
	MaxBatch      = 100
	maxBatchBytes = 1 << 20
	// MaxOverlap is the longest time for which two secrets sign.
	MaxOverlap = 7 * 24 * time.Hour
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

// The refusals that a caller can distinguish with errors.Is, beside those of delivery.
var (
	// ErrNoHeaderValue: a header has no value, and none is stored to be kept.
	ErrNoHeaderValue = errors.New("a header has no value")
	// ErrNoPassword: a user name has no password, and none is stored to be kept.
	ErrNoPassword = errors.New("a user name has no password")
	// ErrBusy: a delivery to the endpoint is in progress.
	ErrBusy = errors.New("a delivery to the webhook is in progress")
	// ErrNoEvent: the merchant has no event with that number.
	ErrNoEvent = errors.New("the merchant has no event with that number")
)

// States are the states of a webhook, those that need attention first.
var States = []delivery.State{delivery.Failed, delivery.Failing, delivery.Active, delivery.Disabled}

// StateNames are the published names of States.
var StateNames = func() (names []string) {
	for _, state := range States {
		names = append(names, state.String())
	}
	return names
}()

// ParseState returns the state with a published name; 0 if there is none.
func ParseState(name string) delivery.State {
	if i := slices.Index(StateNames, name); i >= 0 {
		return States[i]
	}
	return 0
}

// All stands for the merchant's id of the marketplace.
const All = "all"

// ParseMerchantID returns the merchant with an id, or delivery.Marketplace for All. Another text
// becomes -1, which no merchant has.
func ParseMerchantID(text string) int64 {
	if id, _ := order.ParseID(text); id != 0 {
		return id
	}
	if text == All {
		return delivery.Marketplace
	}
	return -1
}

// Endpoint is a URL that receives the events of a merchant, or of all.
type Endpoint struct {
	delivery.Cursor
	URL         string
	Description string // for people; may be empty
	Orders      bool   // deliveries have the order of their event
	// MaxEvents is how many events a delivery may have. If it is more than 1, its body is a list.
	MaxEvents int
	Access

	Secret delivery.Secret // signs deliveries
	// OldSecret signs too until OldSecretUntil. It is empty after the first rotation's
	// overlap, and if there was none.
	OldSecret      delivery.Secret
	OldSecretUntil time.Time
}

// secrets returns the secrets that sign at a time, the newest first.
func (e Endpoint) secrets(now time.Time) []delivery.Secret {
	if e.OldSecret != "" && now.Before(e.OldSecretUntil) {
		return []delivery.Secret{e.Secret, e.OldSecret}
	}
	return []delivery.Secret{e.Secret}
}

// TypeNames are the published names of the types that an endpoint may subscribe to.
var TypeNames = order.EventNames

// ParseType returns the type with a published name.
func ParseType(name string) (order.EventType, bool) {
	i := slices.Index(TypeNames, name)
	return order.EventType(i + 1), i >= 0
}

// ParseTypes returns the set of the types with published names; no names mean all. ok is
// false if there is no such type.
func ParseTypes(names []string) (set delivery.Types, ok bool) {
	for _, name := range names {
		t, ok := ParseType(name)
		if !ok {
			return 0, false
		}
		set |= delivery.NewTypes(t)
	}
	return set, true
}

// The actions of webhooks in the audit log.
const (
	AuditAdded         order.AuditAction = "webhook.added"
	AuditChanged       order.AuditAction = "webhook.changed" // fields are those that changed
	AuditRemoved       order.AuditAction = "webhook.removed"
	AuditSecretRotated order.AuditAction = "webhook.secret_rotated"
	AuditReplayed      order.AuditAction = "webhook.replayed" // after is the new cursor
	AuditFailed        order.AuditAction = "webhook.failed"   // disabled by the service
	AuditFailing       order.AuditAction = "webhook.failing"  // about to be disabled
)

// number returns a number for ids and the audit log.
func number(n int64) string { return strconv.FormatInt(n, 10) }
