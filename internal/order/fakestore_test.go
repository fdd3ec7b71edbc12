package order_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// The statuses of an invoice entry in fakeStore.
const (
	reserved = iota
	active
	deleted
	expired
)

type fakeEntry struct {
	order.Invoice
	status int
	ended  time.Time
	purged bool
}

type fakeOrder struct {
	head    order.LockedOrder
	content order.Order // what was corrected
	updated time.Time
	entries []fakeEntry
	events  []order.Event
}

// fakeStore is an order.Store in memory, whose transactions run one at a time
// and can be made to fail.
type fakeStore struct {
	order.Store // nil: what no test of the rules needs

	mu        sync.Mutex
	orders    map[int64]*fakeOrder // by legacy id
	merchants []order.Merchant
	suspended map[int64]bool
	audit     []order.AuditEntry    // of merchants
	keys      map[string]fakeRecord // by merchant and key
	lastID    int64

	// fail is called before every operation with the name of its method, and
	// before "commit". afterCommit returns an error after a successful commit.
	fail        func(operation string) error
	afterCommit func() error
	rerun       bool // run every transaction twice, as a retry does
	calls       int  // of any method

	searched order.Search // the last one
	listed   order.Filter
	history  string

	commitVersion string // empty: unknown
	revoked       map[int64]bool
	linkKey       order.LinkKey // zero: none
	audited       []order.AuditEntry
}

func newFakeStore(heads ...order.LockedOrder) *fakeStore {
	s := &fakeStore{orders: make(map[int64]*fakeOrder), suspended: make(map[int64]bool), keys: make(map[string]fakeRecord), history: "first"}
	for _, head := range heads {
		s.orders[head.LegacyID] = &fakeOrder{head: head}
	}
	return s
}

func (s *fakeStore) ask(operation string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(operation)
}

// begin locks the store for one method outside of a transaction.
func (s *fakeStore) begin(ctx context.Context, operation string) (func(), error) {
	s.mu.Lock()
	s.calls++
	if err := ctx.Err(); err != nil {
		return s.mu.Unlock, err
	}
	return s.mu.Unlock, s.ask(operation)
}

func (s *fakeStore) find(merchantID int64, id order.Identifier) *fakeOrder {
	for _, o := range s.orders {
		named := o.head.LegacyID == id.LegacyID
		if id.Reference != "" {
			named = o.head.Reference == id.Reference
		}
		if named && o.head.MerchantID == merchantID {
			return o
		}
	}
	return nil
}

func (s *fakeStore) Revision(ctx context.Context, merchantID int64, id order.Identifier) (number, revision int64, err error) {
	o, err := s.Order(ctx, merchantID, id)
	return o.LegacyID, o.Revision, err
}

func (s *fakeStore) Order(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	end, err := s.begin(ctx, "Order")
	defer end()
	if err != nil {
		return order.Order{}, err
	}
	o := s.find(merchantID, id)
	if o == nil {
		return order.Order{}, order.ErrNotFound
	}
	found := order.Order{MerchantID: merchantID, LegacyID: o.head.LegacyID, Reference: o.head.Reference, State: o.head.State}
	for _, e := range o.entries {
		if e.status == active {
			found.Invoices = append(found.Invoices, e.Invoice)
		}
	}
	return found, nil
}

func (s *fakeStore) List(ctx context.Context, _ int64, filter order.Filter) (order.Page, error) {
	end, err := s.begin(ctx, "List")
	defer end()
	s.listed = filter
	return order.Page{Total: int64(len(s.orders))}, err
}

func (s *fakeStore) InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (order.Invoice, error) {
	end, err := s.begin(ctx, "InvoiceFile")
	defer end()
	if err != nil {
		return order.Invoice{}, err
	}
	if o := s.find(merchantID, order.ByReference(reference)); o != nil {
		for _, e := range o.entries {
			if e.Name == name && e.status == active {
				return e.Invoice, nil
			}
		}
	}
	return order.Invoice{}, order.ErrInvoiceNotFound
}

// Events returns the events of the merchant's orders, numbered for each order:
// tests that number a merchant's events have one order.
func (s *fakeStore) Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	end, err := s.begin(ctx, "Events")
	defer end()
	if err != nil {
		return order.Feed{}, err
	}
	feed := order.Feed{Version: s.version(merchantID), History: s.history}
	for _, o := range s.orders {
		for _, e := range o.events {
			if o.head.MerchantID == merchantID && e.Seq > after && len(feed.Events) < limit {
				feed.Events = append(feed.Events, order.EventRecord{Event: e, LegacyID: o.head.LegacyID, Reference: o.head.Reference})
			}
		}
	}
	return feed, nil
}

func (s *fakeStore) version(merchantID int64) order.DataVersion {
	var version order.DataVersion
	for _, o := range s.orders {
		if o.head.MerchantID == merchantID {
			version.Event = max(version.Event, int64(len(o.events)))
		}
	}
	return version
}

func (s *fakeStore) OrderEvents(ctx context.Context, merchantID int64, id order.Identifier, after int64, limit int) ([]order.EventRecord, error) {
	if s.find(merchantID, id) == nil {
		return nil, order.ErrNotFound
	}
	feed, err := s.Events(ctx, merchantID, after, limit)
	return feed.Events, err
}

func (s *fakeStore) DataVersions(ctx context.Context, merchantIDs []int64) (map[int64]order.DataVersion, error) {
	end, err := s.begin(ctx, "DataVersions")
	defer end()
	versions := make(map[int64]order.DataVersion)
	for _, id := range merchantIDs {
		if !s.suspended[id] {
			versions[id] = s.version(id)
		}
	}
	return versions, err
}

func (s *fakeStore) RevokedTokens(ctx context.Context, tokenIDs []int64) ([]int64, error) {
	end, err := s.begin(ctx, "RevokedTokens")
	defer end()
	return slices.DeleteFunc(slices.Clone(tokenIDs), func(id int64) bool { return !s.revoked[id] }), err
}

func (s *fakeStore) CommitVersion() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commitVersion, s.commitVersion != ""
}

func (s *fakeStore) InTx(ctx context.Context, fn func(order.Tx) error) error {
	end, err := s.begin(ctx, "InTx")
	defer end()
	if err != nil {
		return err
	}
	runs := 1
	if s.rerun {
		runs = 2
	}
	var t *fakeTx
	for range runs {
		t = &fakeTx{store: s, orders: make(map[int64]*fakeOrder), keys: maps.Clone(s.keys), lastID: s.lastID}
		for number, o := range s.orders {
			c := *o
			c.entries, c.events = slices.Clone(o.entries), slices.Clone(o.events)
			t.orders[number] = &c
		}
		if err := fn(t); err != nil {
			return err
		}
	}
	if err := s.ask("commit"); err != nil {
		return err
	}
	s.orders, s.keys, s.lastID = t.orders, t.keys, t.lastID
	if s.afterCommit != nil {
		return s.afterCommit()
	}
	return nil
}

func (s *fakeStore) ImportOrders(context.Context, []order.Incoming, order.Cause) ([]order.ImportResult, error) {
	return nil, nil
}

// clean returns up to limit entries for which choose returns true.
func (s *fakeStore) clean(limit int, choose func(fakeEntry) bool) []order.StoredInvoice {
	var found []order.StoredInvoice
	for _, o := range s.orders {
		for _, e := range o.entries {
			if !e.purged && choose(e) && len(found) < limit {
				found = append(found, order.StoredInvoice{
					MerchantID: o.head.MerchantID, OrderLegacyID: o.head.LegacyID, Reference: o.head.Reference, ID: e.ID, Name: e.Name,
				})
			}
		}
	}
	return found
}

func (s *fakeStore) ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	end, err := s.begin(ctx, "ExpiredReservations")
	defer end()
	return s.clean(limit, func(e fakeEntry) bool {
		return e.status == expired || e.status == reserved && e.CreatedAt.Before(before)
	}), err
}

func (s *fakeStore) DeletedInvoices(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	end, err := s.begin(ctx, "DeletedInvoices")
	defer end()
	return s.clean(limit, func(e fakeEntry) bool { return e.status == deleted && e.ended.Before(before) }), err
}

// entry returns an invoice entry of an order, or nil.
func (o *fakeOrder) entry(id int64) *fakeEntry {
	for i := range o.entries {
		if o.entries[i].ID == id {
			return &o.entries[i]
		}
	}
	return nil
}

func (s *fakeStore) ExpireReservation(ctx context.Context, invoice order.StoredInvoice, at time.Time) (bool, error) {
	end, err := s.begin(ctx, "ExpireReservation")
	defer end()
	if err != nil {
		return false, err
	}
	o := s.orders[invoice.OrderLegacyID]
	e := o.entry(invoice.ID)
	if e == nil || e.status != reserved {
		return e != nil && e.status == expired, nil
	}
	e.status, e.ended = expired, at
	o.head.ActiveInvoices--
	return true, nil
}

func (s *fakeStore) MarkPurged(ctx context.Context, invoice order.StoredInvoice, _ time.Time) error {
	end, err := s.begin(ctx, "MarkPurged")
	defer end()
	if err == nil {
		s.orders[invoice.OrderLegacyID].entry(invoice.ID).purged = true
	}
	return err
}

func (t *fakeTx) AddMerchant(_ context.Context, merchant order.Merchant, _ order.AuditEntry) error {
	t.store.merchants = append(t.store.merchants, merchant)
	return nil
}

func (t *fakeTx) ImportOrder(context.Context, order.Incoming, order.Cause) (order.ImportResult, error) {
	return order.ImportResult{}, nil
}

func (s *fakeStore) Merchants(context.Context, order.MerchantFilter) ([]order.Merchant, error) {
	return s.merchants, nil
}

func (s *fakeStore) Merchant(context.Context, int64) (order.Merchant, error) {
	return order.Merchant{}, order.ErrMerchantNotFound
}

// fakeTx works on a copy that InTx commits or discards.
type fakeTx struct {
	store  *fakeStore
	orders map[int64]*fakeOrder
	keys   map[string]fakeRecord
	lastID int64
}

func (t *fakeTx) LockOrder(_ context.Context, merchantID int64, id order.Identifier) (order.LockedOrder, error) {
	if err := t.store.ask("LockOrder"); err != nil {
		return order.LockedOrder{}, err
	}
	view := fakeStore{orders: t.orders}
	o := view.find(merchantID, id)
	if o == nil {
		return order.LockedOrder{}, order.ErrNotFound
	}
	head := o.head
	head.NextRevision = head.Revision + 1
	return head, nil
}

func (t *fakeTx) Transition(_ context.Context, locked order.LockedOrder, to order.State, cause order.Cause) error {
	o := t.orders[locked.LegacyID]
	o.head.State, o.updated = to, cause.At
	o.head.Revision++
	if err := t.store.ask("Transition"); err != nil {
		return err
	}
	return t.appendEvent(locked, order.Event{
		Type: order.OrderStateChanged, Actor: cause.Actor, At: cause.At, From: locked.State, To: to, Reason: cause.Reason,
	})
}

func (t *fakeTx) Correct(_ context.Context, locked order.LockedOrder, correction order.Correction, cause order.Cause) ([]string, error) {
	o := t.orders[locked.LegacyID]
	fields := correction.Apply(&o.content)
	if len(fields) == 0 {
		return nil, nil
	}
	o.updated = cause.At
	o.head.Revision++
	if err := t.store.ask("Correct"); err != nil {
		return nil, err
	}
	return fields, t.appendEvent(locked, order.Event{Type: order.OrderUpdated, Actor: cause.Actor, At: cause.At})
}

func (t *fakeTx) Invoices(_ context.Context, head order.LockedOrder) ([]order.Invoice, error) {
	var found []order.Invoice
	for _, e := range t.orders[head.LegacyID].entries {
		if e.status == active {
			found = append(found, e.Invoice)
		}
	}
	return found, t.store.ask("Invoices")
}

func (t *fakeTx) InvoiceNameUsed(_ context.Context, head order.LockedOrder, name string) (bool, error) {
	used := slices.ContainsFunc(t.orders[head.LegacyID].entries, func(e fakeEntry) bool { return e.Name == name })
	return used, t.store.ask("InvoiceNameUsed")
}

func (t *fakeTx) HadMaxInvoices(_ context.Context, head order.LockedOrder) (bool, error) {
	n := 0
	for _, e := range t.orders[head.LegacyID].entries {
		if e.status != expired {
			n++
		}
	}
	return n >= order.MaxInvoicesEver, t.store.ask("HadMaxInvoices")
}

func (t *fakeTx) ReserveInvoice(_ context.Context, head order.LockedOrder, invoice order.Invoice) (int64, error) {
	o := t.orders[head.LegacyID]
	if o.head.ActiveInvoices >= order.MaxInvoices {
		return 0, order.ErrTooManyFiles
	}
	o.head.ActiveInvoices++
	t.lastID++
	invoice.ID = t.lastID
	o.entries = append(o.entries, fakeEntry{Invoice: invoice, status: reserved})
	return invoice.ID, t.store.ask("ReserveInvoice")
}

func (t *fakeTx) ActivateInvoice(_ context.Context, head order.LockedOrder, id int64, cause order.Cause) error {
	e := t.orders[head.LegacyID].entry(id)
	if e == nil || e.status != reserved {
		return order.ErrInvoiceNotFound
	}
	e.status = active
	t.orders[head.LegacyID].head.Revision++
	if err := t.store.ask("ActivateInvoice"); err != nil {
		return err
	}
	return t.appendEvent(head, order.Event{Type: order.InvoiceUploaded, Actor: cause.Actor, At: cause.At, InvoiceID: id})
}

func (t *fakeTx) ReleaseInvoice(_ context.Context, head order.LockedOrder, id int64) error {
	o := t.orders[head.LegacyID]
	if e := o.entry(id); e != nil && e.status == reserved {
		o.entries = slices.DeleteFunc(o.entries, func(e fakeEntry) bool { return e.ID == id })
		o.head.ActiveInvoices--
	}
	return t.store.ask("ReleaseInvoice")
}

func (t *fakeTx) DeleteInvoice(_ context.Context, head order.LockedOrder, id int64, cause order.Cause) error {
	o := t.orders[head.LegacyID]
	e := o.entry(id)
	if e == nil || e.status != active {
		return order.ErrInvoiceNotFound
	}
	e.status, e.ended = deleted, cause.At
	o.head.ActiveInvoices--
	o.head.Revision++
	if err := t.store.ask("DeleteInvoice"); err != nil {
		return err
	}
	return t.appendEvent(head, order.Event{Type: order.InvoiceDeleted, Actor: cause.Actor, At: cause.At, InvoiceID: id})
}

func (t *fakeTx) appendEvent(head order.LockedOrder, event order.Event) error {
	o := t.orders[head.LegacyID]
	event.Seq = int64(len(o.events)) + 1
	o.events = append(o.events, event)
	return t.store.ask("appendEvent")
}

// AuditLog is not tested with a fake.
func (s *fakeStore) AuditLog(context.Context, order.AuditQuery) (order.AuditPage, error) {
	return order.AuditPage{}, nil
}

func (t *fakeTx) LockMerchant(_ context.Context, id int64) (order.Merchant, error) {
	return order.Merchant{ID: id, Name: "Store"}, nil
}

func (t *fakeTx) UpdateMerchant(_ context.Context, m order.Merchant, entry order.AuditEntry) error {
	t.store.suspended[m.ID] = m.Suspended()
	t.store.audit = append(t.store.audit, entry)
	return nil
}

// What concerns data protection is not tested with a fake.
func (s *fakeStore) CustomerOrders(context.Context, string) ([]order.LockedOrder, error) {
	return nil, nil
}

func (s *fakeStore) FilesToRemove(context.Context, int64, int64) ([]order.StoredInvoice, error) {
	return nil, nil
}

func (s *fakeStore) EraseFileNames(context.Context, int64, int64) error { return nil }

func (t *fakeTx) AppendAudit(context.Context, order.AuditEntry) error { return nil }

func (t *fakeTx) EraseOrder(context.Context, order.LockedOrder, order.Cause) (bool, error) {
	return false, nil
}

func (s *fakeStore) OrdersBefore(context.Context, time.Time, int) ([]order.LockedOrder, error) {
	return nil, nil
}

func (t *fakeTx) DeleteOrder(context.Context, order.LockedOrder, order.Cause) (bool, error) {
	return false, nil
}
