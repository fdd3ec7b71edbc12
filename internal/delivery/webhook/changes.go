package webhook

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Change is what to change of an endpoint; nil: nothing.
type Change struct {
	URL         *string // checked with URLProblem
	Description *string // checked with DescriptionProblem
	Types       *delivery.Types
	Orders      *bool
	MaxEvents   *int // 1 to MaxBatch
	// Headers replaces all headers. An empty value keeps the one of that name.
	Headers map[string]delivery.Secret
	// Username and Password replace both. An empty user name removes them, and an empty
	// password keeps the stored one.
	Username *string
	Password delivery.Secret
	Enabled  *bool
}

// second returns the time of the service's clock in whole seconds.
func (s *Service) second() time.Time { return s.Now().UTC().Truncate(time.Second) }

// Add adds an active endpoint of a merchant or of the marketplace, as a change makes it of an
// empty one, with a random secret. Deliveries begin after an event; nil: after the newest.
// Errors: delivery.ErrOrders, delivery.ErrNoMerchant, delivery.ErrTooMany, ErrNoHeaderValue,
// ErrNoPassword, and those of cursor.
func (s *Service) Add(ctx context.Context, caller order.Caller, merchantID int64, c Change, after *order.MarketCursor, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	e := Endpoint{Cursor: delivery.Cursor{Key: delivery.Key{MerchantID: merchantID, Kind: Kind}, CreatedAt: at, State: delivery.Active}, MaxEvents: 1, Secret: NewSecret()}
	e.update(c, at)
	start := s.cursor(ctx, merchantID, after)
	return s.changes.Make(ctx, caller, e.MerchantID, options, func(tx Tx) (Endpoint, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return Endpoint{}, delivery.ErrOrders
		}
		err := e.check()
		if err != nil {
			return Endpoint{}, err
		}
		if e.Acknowledged, err = start(tx); err != nil {
			return Endpoint{}, err
		}
		if e.ID, err = tx.Add(ctx, e); err != nil {
			return Endpoint{}, err
		}
		return e, tx.AppendAudit(ctx, e.Audit(AuditAdded, at, caller, ""))
	})
}

// cursor returns a function that returns the cursor that a client chose, or that of the
// newest event for nil. It returns ErrNoEvent for an event that is not in the feed; of the
// marketplace, whose feed cannot be read in a transaction, order.ErrOtherHistory if the
// event is gone, and order.ErrOnCluster.
func (s *Service) cursor(ctx context.Context, merchantID int64, after *order.MarketCursor) func(Tx) (order.MarketCursor, error) {
	if merchantID == delivery.Marketplace {
		start, err := s.marketCursor(ctx, after)
		return func(Tx) (order.MarketCursor, error) { return start, err }
	}
	return func(tx Tx) (order.MarketCursor, error) {
		newest, err := tx.NewestEvent(ctx, merchantID)
		switch {
		case err != nil || after == nil:
			return order.MarketCursor{Seq: newest}, err
		case after.Seq > newest || after.MerchantID != 0:
			return order.MarketCursor{}, ErrNoEvent
		}
		return order.MarketCursor{Seq: after.Seq}, nil
	}
}

// marketCursor is cursor for the marketplace.
func (s *Service) marketCursor(ctx context.Context, after *order.MarketCursor) (order.MarketCursor, error) {
	if after == nil {
		end, err := s.Store.MarketEnd(ctx)
		return end.Cursor, err
	}
	if after.MerchantID == 0 && after.Seq != 0 {
		return order.MarketCursor{}, ErrNoEvent
	}
	feed, err := s.Store.MarketEvents(ctx, *after, 1)
	start := *after
	start.History = feed.Cursor.History
	return start, err
}

// Change changes an endpoint. Another URL, or enabling it, ends the pause after a
// failure. A URL of another host removes headers and password, so that who may change the
// URL cannot read them. Deliveries continue where they ended. Errors: delivery.ErrNotFound, delivery.ErrOrders,
// ErrNoHeaderValue, ErrNoPassword.
func (s *Service) Change(ctx context.Context, caller order.Caller, key delivery.Key, c Change, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	return s.changes.Update(ctx, caller, key, options, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		fields := e.update(c, at)
		shows := []string{"url", "include", "types"} // who sees what
		if e.State.Delivers() {
			shows = append(shows, "enabled")
		}
		if !caller.Can(order.ScopeOrdersRead) && slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(shows, field) }) {
			return order.AuditEntry{}, delivery.ErrOrders
		}
		if err := e.check(); err != nil {
			return order.AuditEntry{}, err
		}
		return e.Audit(AuditChanged, at, caller, order.AuditDetail("fields", strings.Join(fields, ","), "state", e.State.String())), nil
	})
}

// update applies a change and returns the names of the fields that it changed.
func (e *Endpoint) update(c Change, at time.Time) (fields []string) {
	access := e.Access
	url := e.URL
	if fields = set(fields, "url", &e.URL, c.URL); url != e.URL {
		if !sameHost(url, e.URL) {
			e.Access = Access{}
		}
		e.EndPauses(at)
	}
	fields = set(fields, "description", &e.Description, c.Description)
	fields = set(fields, "types", &e.Types, c.Types)
	fields = set(fields, "include", &e.Orders, c.Orders)
	fields = set(fields, "batch", &e.MaxEvents, c.MaxEvents)
	if e.changeAccess(c); !e.equal(access) {
		fields = append(fields, "access")
	}
	if c.Enabled != nil && *c.Enabled {
		e.EndPauses(at) // also if it is active, and only waits
	}
	if c.Enabled != nil && *c.Enabled != e.State.Delivers() {
		state := delivery.Disabled
		if *c.Enabled {
			state = delivery.Active
		}
		if state != e.State && !(state == delivery.Disabled && e.State == delivery.Failed) {
			fields = append(fields, "enabled")
			e.State, e.StateSet, e.Reason = state, at, ""
			e.EndPauses(at)
		}
	}
	return fields
}

// set sets a field to a value, unless that is nil, and appends its name to those that changed.
func set[T comparable](fields []string, name string, field, value *T) []string {
	if value == nil || *value == *field {
		return fields
	}
	*field = *value
	return append(fields, name)
}

// changeAccess applies what a change says of headers and password.
func (e *Endpoint) changeAccess(c Change) {
	if c.Headers != nil {
		headers := make(map[string]delivery.Secret, len(c.Headers))
		for name, value := range c.Headers {
			headers[name] = cmp.Or(value, e.Headers[name])
		}
		e.Headers = headers
	}
	if c.Username == nil {
		return
	}
	e.Username, e.Password = *c.Username, cmp.Or(c.Password, e.Password)
	if e.Username == "" {
		e.Password = ""
	}
}

// Remove removes an endpoint with its deliveries, or returns delivery.ErrNotFound.
func (s *Service) Remove(ctx context.Context, caller order.Caller, key delivery.Key, options order.Options[Endpoint]) (Endpoint, error) {
	return s.changes.Remove(ctx, caller, key, options, func(e Endpoint) (order.AuditEntry, error) {
		return e.Audit(AuditRemoved, s.second(), caller, ""), nil
	})
}

// RotateSecret gives an endpoint a new random secret. The old one signs too for the
// time of overlap. Errors: delivery.ErrNotFound.
func (s *Service) RotateSecret(ctx context.Context, caller order.Caller, key delivery.Key, overlap time.Duration, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	secret := NewSecret()
	return s.changes.Update(ctx, caller, key, options, func(_ Tx, e *Endpoint) (order.AuditEntry, error) {
		e.OldSecret, e.OldSecretUntil = e.Secret, at.Add(overlap)
		if overlap == 0 {
			e.OldSecret, e.OldSecretUntil = "", time.Time{}
		}
		e.Secret = secret
		return e.Audit(AuditSecretRotated, at, caller, ""), nil
	})
}

// Replay sets the cursor of an endpoint: the events after another are delivered, also
// those that it has acknowledged. Errors: delivery.ErrNotFound, delivery.ErrOrders, and those of cursor.
func (s *Service) Replay(ctx context.Context, caller order.Caller, key delivery.Key, after order.MarketCursor, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	start := s.cursor(ctx, key.MerchantID, &after)
	return s.changes.Update(ctx, caller, key, options, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return order.AuditEntry{}, delivery.ErrOrders
		}
		var err error
		if e.Acknowledged, err = start(tx); err != nil {
			return order.AuditEntry{}, err
		}
		e.Held, e.Batch = nil, 0
		e.Recover(at)
		return e.Audit(AuditReplayed, at, caller, order.AuditDetail("after", e.Position())), nil
	})
}
