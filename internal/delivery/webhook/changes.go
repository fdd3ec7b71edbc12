package webhook

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// Addition is an endpoint to be added.
type Addition struct {
	MerchantID  int64  // or Marketplace
	URL         string // checked with URLProblem
	Description string // checked with DescriptionProblem
	Types       Types
	Orders      bool
	Access      Access // checked with HeaderNameProblem, CredentialProblem and UsernameProblem
	// After is the event after which deliveries begin; nil: the newest.
	After *order.MarketCursor
}

// Change is what to change of an endpoint; nil: nothing.
type Change struct {
	URL         *string // checked with URLProblem
	Description *string // checked with DescriptionProblem
	Types       *Types
	Orders      *bool
	// Headers replaces all headers. An empty value keeps the one of that name.
	Headers map[string]Credential
	// Username and Password replace both. An empty user name removes them, and an empty
	// password keeps the stored one.
	Username *string
	Password Credential
	Enabled  *bool
}

// Addition returns the endpoint of a merchant that a change makes of none.
func (c Change) Addition(merchantID int64) Addition {
	var e Endpoint
	e.update(c, time.Time{})
	return Addition{MerchantID: merchantID, URL: e.URL, Description: e.Description, Types: e.Types, Orders: e.Orders, Access: e.Access}
}

// second returns the time of the service's clock in whole seconds.
func (s *Service) second() time.Time { return s.now().UTC().Truncate(time.Second) }

// Add adds an active endpoint with a random secret. Errors: ErrOrders, ErrNoMerchant,
// ErrTooMany, ErrNoHeaderValue, ErrNoPassword, and those of cursor.
func (s *Service) Add(ctx context.Context, caller order.Caller, a Addition, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	e := Endpoint{
		Key: Key{MerchantID: a.MerchantID}, URL: a.URL, Description: a.Description, Types: a.Types, Orders: a.Orders, Access: a.Access,
		CreatedAt: at, Secret: NewSecret(), State: Active,
	}
	start := s.cursor(ctx, e.MerchantID, a.After)
	return s.inTx(ctx, caller, e.MerchantID, options, func(tx Tx) (Endpoint, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return Endpoint{}, ErrOrders
		}
		err := e.check()
		if err != nil {
			return Endpoint{}, err
		}
		if e.Acknowledged, err = start(tx); err != nil {
			return Endpoint{}, err
		}
		if e.ID, err = tx.AddWebhook(ctx, e); err != nil {
			return Endpoint{}, err
		}
		return e, tx.Audit(ctx, e.audit(AuditAdded, at, caller, ""))
	})
}

// cursor returns a function that returns the cursor that a client chose, or that of the
// newest event for nil. It returns ErrNoEvent for an event that is not in the feed; of the
// marketplace, whose feed cannot be read in a transaction, order.ErrOtherHistory if the
// event is gone, and order.ErrOnCluster.
func (s *Service) cursor(ctx context.Context, merchantID int64, after *order.MarketCursor) func(Tx) (order.MarketCursor, error) {
	if merchantID == Marketplace {
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
		end, err := s.store.MarketEnd(ctx)
		return end.Cursor, err
	}
	if after.MerchantID == 0 && after.Seq != 0 {
		return order.MarketCursor{}, ErrNoEvent
	}
	feed, err := s.store.MarketEvents(ctx, *after, 1)
	start := *after
	start.History = feed.Cursor.History
	return start, err
}

// Change changes an endpoint. Another URL, or enabling it, ends the pause after a
// failure. A URL of another host removes headers and password, so that who may change the
// URL cannot read them. Deliveries continue where they ended. Errors: ErrNotFound, ErrOrders,
// ErrNoHeaderValue, ErrNoPassword.
func (s *Service) Change(ctx context.Context, caller order.Caller, key Key, c Change, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	return s.change(ctx, caller, key, options, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		fields := e.update(c, at)
		shows := []string{"url", "include", "types"} // who sees what
		if e.State.Delivers() {
			shows = append(shows, "enabled")
		}
		if !caller.Can(order.ScopeOrdersRead) && slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(shows, field) }) {
			return order.AuditEntry{}, ErrOrders
		}
		if err := e.check(); err != nil {
			return order.AuditEntry{}, err
		}
		return e.audit(AuditChanged, at, caller, order.AuditDetail("fields", strings.Join(fields, ","), "state", e.State.String())), nil
	})
}

// update applies a change and returns the names of the fields that it changed.
func (e *Endpoint) update(c Change, at time.Time) (fields []string) {
	access := e.Access
	if c.URL != nil && *c.URL != e.URL {
		fields = append(fields, "url")
		if !sameHost(*c.URL, e.URL) {
			e.Access = Access{}
		}
		e.URL = *c.URL
		e.retry(at)
	}
	if c.Description != nil && *c.Description != e.Description {
		fields = append(fields, "description")
		e.Description = *c.Description
	}
	if c.Types != nil && *c.Types != e.Types {
		fields = append(fields, "types")
		e.Types = *c.Types
	}
	if c.Orders != nil && *c.Orders != e.Orders {
		fields = append(fields, "include")
		e.Orders = *c.Orders
	}
	if e.changeAccess(c); !e.equal(access) {
		fields = append(fields, "access")
	}
	if c.Enabled != nil && *c.Enabled {
		e.retry(at) // also if it is active, and only waits
	}
	if c.Enabled != nil && *c.Enabled != e.State.Delivers() {
		state := Disabled
		if *c.Enabled {
			state = Active
		}
		if state != e.State && !(state == Disabled && e.State == Failed) {
			fields = append(fields, "enabled")
			e.State, e.StateSet, e.Reason = state, at, ""
			e.retry(at)
		}
	}
	return fields
}

// changeAccess applies what a change says of headers and password.
func (e *Endpoint) changeAccess(c Change) {
	if c.Headers != nil {
		headers := make(map[string]Credential, len(c.Headers))
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

// Remove removes an endpoint with its deliveries, or returns ErrNotFound.
func (s *Service) Remove(ctx context.Context, caller order.Caller, key Key, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	return s.inTx(ctx, caller, key.MerchantID, options, func(tx Tx) (Endpoint, error) {
		e, err := tx.LockWebhook(ctx, key)
		if err != nil {
			return Endpoint{}, err
		}
		if err := tx.RemoveWebhook(ctx, key); err != nil {
			return Endpoint{}, err
		}
		action := AuditRemoved
		if e.Mail {
			action = AuditMailRemoved
		}
		return e, tx.Audit(ctx, e.audit(action, at, caller, ""))
	})
}

// RotateSecret gives an endpoint a new random secret. The old one signs too for the
// time of overlap. Errors: ErrNotFound.
func (s *Service) RotateSecret(ctx context.Context, caller order.Caller, key Key, overlap time.Duration, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	secret := NewSecret()
	return s.change(ctx, caller, key, options, func(_ Tx, e *Endpoint) (order.AuditEntry, error) {
		e.OldSecret, e.OldSecretUntil = e.Secret, at.Add(overlap)
		if overlap == 0 {
			e.OldSecret, e.OldSecretUntil = "", time.Time{}
		}
		e.Secret = secret
		return e.audit(AuditSecretRotated, at, caller, ""), nil
	})
}

// Replay sets the cursor of an endpoint: the events after another are delivered, also
// those that it has acknowledged. Errors: ErrNotFound, ErrOrders, and those of cursor.
func (s *Service) Replay(ctx context.Context, caller order.Caller, key Key, after order.MarketCursor, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	start := s.cursor(ctx, key.MerchantID, &after)
	return s.change(ctx, caller, key, options, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return order.AuditEntry{}, ErrOrders
		}
		var err error
		if e.Acknowledged, err = start(tx); err != nil {
			return order.AuditEntry{}, err
		}
		e.Held = nil
		e.recovered(at)
		return e.audit(AuditReplayed, at, caller, order.AuditDetail("after", e.Position())), nil
	})
}

// change changes a locked endpoint with a function that returns the entry of the audit
// log.
func (s *Service) change(ctx context.Context, caller order.Caller, key Key, options order.Options[Endpoint], fn func(Tx, *Endpoint) (order.AuditEntry, error)) (Endpoint, error) {
	return s.inTx(ctx, caller, key.MerchantID, options, func(tx Tx) (Endpoint, error) {
		e, err := tx.LockWebhook(ctx, key)
		if err != nil {
			return Endpoint{}, err
		}
		entry, err := fn(tx, &e)
		if err != nil {
			return Endpoint{}, err
		}
		if err := tx.UpdateWebhook(ctx, e); err != nil {
			return Endpoint{}, err
		}
		return e, tx.Audit(ctx, entry)
	})
}

// inTx makes a change in a transaction. It then wakes the Sender of this instance.
// Errors beside those of fn are those of order.Change.
func (s *Service) inTx(ctx context.Context, caller order.Caller, merchantID int64, options order.Options[Endpoint], fn func(Tx) (Endpoint, error)) (Endpoint, error) {
	e, err := order.Change(ctx, s.changes, caller, options, fn)
	if err == nil {
		s.added(merchantID)
	}
	return e, err
}
