package order

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Limits of the fields of a merchant.
const (
	// MaxMerchantName is the longest name of a merchant, in bytes.
	MaxMerchantName = 1000
	// MaxSuspensionReason is the longest reason of a suspension, in bytes.
	MaxSuspensionReason = 500
	// MaxRequestsPerSecond and MaxBurst are the maxima of the fields of a RateLimit.
	MaxRequestsPerSecond = 500_000
	MaxBurst             = 2 * MaxRequestsPerSecond
	// MaxMerchantsPage is the maximum of MerchantFilter.Limit.
	MaxMerchantsPage = 1000
)

// The actions on merchants in the audit log.
const (
	MerchantAdded     AuditAction = "merchant.added"
	MerchantUpdated   AuditAction = "merchant.updated" // the detail names the fields
	MerchantSuspended AuditAction = "merchant.suspended"
	MerchantResumed   AuditAction = "merchant.resumed"
)

// Merchant is a seller in the marketplace.
type Merchant struct {
	ID        int64  // the store id, positive
	Name      string // shown as the vendor company name
	CreatedAt time.Time
	// SuspendedAt is zero unless the merchant is suspended. Its tokens then allow
	// nothing, but its orders still arrive.
	SuspendedAt      time.Time
	SuspensionReason string // of the operator, for operators; empty unless suspended
	RateLimit        RateLimit
	// TimeZone is the name of the zone whose days the merchant's staff see. Empty: that of
	// the service.
	TimeZone string
	Slip     Slip
}

// Slip is what a merchant's packing slips say of it, and where its tracking codes lead.
type Slip struct {
	Name          string // empty: that of the merchant
	ReturnAddress string // may have several lines; empty: none
	TrackingLink  string // an address in which {code} stands for the code; empty: none
}

// Suspended reports whether the merchant is suspended.
func (m Merchant) Suspended() bool { return !m.SuspendedAt.IsZero() }

// RateLimit is the request limit of each token of a merchant. The zero RateLimit is
// the default of the service.
type RateLimit struct {
	PerSecond int // requests a second
	Burst     int // requests that an idle token may send at once
}

// NewRateLimit returns a limit with the default of Burst.
func NewRateLimit(perSecond int) RateLimit { return RateLimit{perSecond, 2 * perSecond} }

// MerchantFilter selects merchants. The zero filter selects all.
type MerchantFilter struct {
	IDs        []int64 // only these, without NamePrefix; nil: any
	NamePrefix string  // case-sensitive; the merchants are then sorted by name
	Suspended  *bool   // nil: both
	After      int64   // id of the last merchant of the page before; 0: none
	Limit      int     // up to MaxMerchantsPage; 0: all
}

// MerchantUpdate changes a merchant. Fields that are nil stay as they are.
type MerchantUpdate struct {
	Name      *string
	RateLimit *RateLimit // a pointer to the zero RateLimit: back to the default
	TimeZone  *string    // a pointer to the empty text: back to the default
	Slip      *Slip
}

// MerchantStore holds merchants. Every method may return ErrUnavailable in addition to the
// errors that it names.
type MerchantStore interface {
	Transactor
	// Merchants returns the merchants of a filter.
	Merchants(ctx context.Context, filter MerchantFilter) ([]Merchant, error)
	// Merchant returns one merchant, or ErrMerchantNotFound.
	Merchant(ctx context.Context, id int64) (Merchant, error)
}

// Merchants manages merchants. It has no state.
type Merchants struct {
	store     MerchantStore
	changes   *Changes[Tx]
	now       func() time.Time
	suspended func(merchantID int64)
}

// NewMerchants returns the merchants of a store. now is the clock. suspended is called
// after a merchant is suspended, and returns at once.
func NewMerchants(store MerchantStore, now func() time.Time, suspended func(merchantID int64)) *Merchants {
	return &Merchants{store: store, changes: NewChanges(store, store.InTx, now), now: now, suspended: suspended}
}

// Add adds a merchant; see Tx.AddMerchant. Its errors are also those of Change.
func (m *Merchants) Add(ctx context.Context, caller Caller, id int64, name string, options Options[Merchant]) error {
	if id <= 0 {
		return errors.New("merchant id must be a positive number")
	}
	if problem := MerchantNameProblem(name); problem != "" {
		return errors.New("merchant name " + problem)
	}
	_, err := Change(ctx, m.changes, caller, options, func(tx Tx) (Merchant, error) {
		merchant := Merchant{ID: id, Name: name, CreatedAt: seconds(m.now)}
		return merchant, tx.AddMerchant(ctx, merchant, AuditEntry{At: merchant.CreatedAt, Action: MerchantAdded, By: caller})
	})
	return err
}

// List returns the merchants of a filter, ordered by id, or by name and id if the
// filter has a prefix.
func (m *Merchants) List(ctx context.Context, filter MerchantFilter) ([]Merchant, error) {
	return m.store.Merchants(ctx, filter)
}

// Get returns one merchant, or ErrMerchantNotFound.
func (m *Merchants) Get(ctx context.Context, id int64) (Merchant, error) {
	return m.store.Merchant(ctx, id)
}

// Update changes a merchant and returns it. The caller has checked the fields.
// Errors beside those of Change: ErrMerchantNotFound.
func (m *Merchants) Update(ctx context.Context, caller Caller, id int64, update MerchantUpdate, options Options[Merchant]) (Merchant, error) {
	return m.change(ctx, caller, id, MerchantUpdated, options, func(changed *Merchant) {
		if update.Name != nil {
			changed.Name = *update.Name
		}
		if update.RateLimit != nil {
			changed.RateLimit = *update.RateLimit
		}
		if update.TimeZone != nil {
			changed.TimeZone = *update.TimeZone
		}
		if update.Slip != nil {
			changed.Slip = *update.Slip
		}
	})
}

// Suspend suspends a merchant and returns it. A suspension that exists keeps its
// time and its reason. The errors are those of Update.
func (m *Merchants) Suspend(ctx context.Context, caller Caller, id int64, reason string, options Options[Merchant]) (Merchant, error) {
	merchant, err := m.change(ctx, caller, id, MerchantSuspended, options, func(changed *Merchant) {
		if !changed.Suspended() {
			changed.SuspendedAt, changed.SuspensionReason = seconds(m.now), reason
		}
	})
	if err == nil {
		m.suspended(id)
	}
	return merchant, err
}

// Resume ends the suspension of a merchant, if there is one, and returns the
// merchant. The errors are those of Update.
func (m *Merchants) Resume(ctx context.Context, caller Caller, id int64, options Options[Merchant]) (Merchant, error) {
	return m.change(ctx, caller, id, MerchantResumed, options, func(changed *Merchant) {
		changed.SuspendedAt, changed.SuspensionReason = time.Time{}, ""
	})
}

// change changes a merchant with a function and returns it.
func (m *Merchants) change(ctx context.Context, caller Caller, id int64, action AuditAction, options Options[Merchant], change func(*Merchant)) (Merchant, error) {
	return Change(ctx, m.changes, caller, options, func(tx Tx) (Merchant, error) {
		before, err := tx.LockMerchant(ctx, id)
		if err != nil {
			return Merchant{}, err
		}
		merchant := before
		if change(&merchant); merchant == before {
			return merchant, nil
		}
		entry := AuditEntry{At: seconds(m.now), Action: action, By: caller}
		if action == MerchantUpdated {
			entry.Detail = AuditDetail("fields", strings.Join(merchant.changedFields(before), ","))
		}
		return merchant, tx.UpdateMerchant(ctx, merchant, entry)
	})
}

// changedFields returns the names of the fields that a MerchantUpdate has changed.
func (m Merchant) changedFields(before Merchant) []string {
	var fields []string
	if m.Name != before.Name {
		fields = append(fields, "name")
	}
	if m.RateLimit != before.RateLimit {
		fields = append(fields, "limits")
	}
	if m.TimeZone != before.TimeZone {
		fields = append(fields, "timeZone")
	}
	if m.Slip != before.Slip {
		fields = append(fields, "slip")
	}
	return fields
}

// MerchantNameProblem returns what is wrong with a merchant name, as a phrase
// that follows the name of the field. It returns "" for a valid name.
func MerchantNameProblem(name string) string { return requiredLineProblem(name, MaxMerchantName) }

// SuspensionReasonProblem is MerchantNameProblem for the reason of a suspension.
func SuspensionReasonProblem(reason string) string {
	return requiredLineProblem(reason, MaxSuspensionReason)
}
