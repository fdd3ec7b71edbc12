package order

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// InvoiceLinkLifetime is how long a link to an invoice file is valid (decision 6).
const InvoiceLinkLifetime = 15 * time.Minute

// The audit actions of links.
const (
	InvoiceLinked AuditAction = "invoice.linked"
	LinksRevoked  AuditAction = "links.revoked"
)

// LinkKeySize is the size, in bytes, of the key that signs links.
const LinkKeySize = 32

// LinkKey is the key that signs links to invoice files. All instances of the
// service share it through the store.
type LinkKey [LinkKeySize]byte

// Errors of links, in addition to ErrInvoiceNotFound and ErrInvoiceDamaged.
var (
	// ErrLinkInvalid: the text is not a link of this service, was changed, or its
	// key was replaced.
	ErrLinkInvalid = errors.New("the link is not valid")
	// ErrLinkExpired: the link was valid until its expiry.
	ErrLinkExpired = errors.New("the link has expired")
	// ErrMerchantSuspended: links to files of a suspended merchant do not open.
	ErrMerchantSuspended = errors.New("the merchant is suspended")
)

// InvoiceLink identifies an invoice file and says until when everybody who has the
// signed text of the link may read the file.
type InvoiceLink struct {
	MerchantID int64
	LegacyID   int64 // of the order
	InvoiceID  int64
	ExpiresAt  time.Time // whole seconds; the link is valid before it
}

// SignedLink is the text of a link and its expiry.
type SignedLink struct {
	Text      string
	ExpiresAt time.Time
}

// Sign returns the text of the link: its numbers and the signature, separated by
// dots. All characters are unreserved in URLs.
func (l InvoiceLink) Sign(key LinkKey) string {
	var text strings.Builder
	for _, n := range []int64{l.MerchantID, l.LegacyID, l.InvoiceID, l.ExpiresAt.Unix()} {
		text.WriteString(strconv.FormatInt(n, 10) + ".")
	}
	mac := hmac.New(sha256.New, key[:])
	// The prefix keeps the signature from being one of another kind of text.
	mac.Write([]byte("invoice link\n" + text.String()))
	return text.String() + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// parseLink returns what the text of a link says, if it has the form that Sign writes.
// The caller compares the text with that of Sign.
func parseLink(text string) (link InvoiceLink, ok bool) {
	fields := strings.Split(text, ".")
	if len(fields) != 5 {
		return InvoiceLink{}, false
	}
	var expires int64
	for i, number := range []*int64{&link.MerchantID, &link.LegacyID, &link.InvoiceID, &expires} {
		if *number, ok = ParseID(fields[i]); !ok {
			return InvoiceLink{}, false
		}
	}
	link.ExpiresAt = time.Unix(expires, 0).UTC()
	return link, true
}

// LinkStore reads the key that signs links. Every method may return ErrUnavailable in
// addition to the errors that it names.
type LinkStore interface {
	// InvoiceByID returns an active invoice and the reference of its order, or
	// ErrInvoiceNotFound or ErrMerchantSuspended.
	InvoiceByID(ctx context.Context, merchantID, legacyID, invoiceID int64) (reference string, invoice Invoice, err error)

	// LinkKey returns the key that signs links to invoice files. ok is false if there
	// is none yet.
	LinkKey(ctx context.Context) (key LinkKey, ok bool, err error)
}

// Links makes and opens links to invoice files. It has no state.
type Links struct {
	store  LinkStore
	orders *Service
}

// NewLinks returns the links of a store to the files of orders.
func NewLinks(store LinkStore, orders *Service) *Links { return &Links{store, orders} }

// Add makes a signed link to an active invoice file of an order of the caller's merchant.
// Errors, in addition to those of Change: ErrInvoiceNotFound, also if the order does not
// exist, and ErrPreconditionFailed.
func (l *Links) Add(ctx context.Context, caller Caller, id Identifier, invoiceID int64, options Options[WriteResult]) (WriteResult, error) {
	result, err := l.orders.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		invoices, err := tx.Invoices(ctx, locked)
		if err == nil && !slices.ContainsFunc(invoices, func(i Invoice) bool { return i.ID == invoiceID }) {
			err = ErrInvoiceNotFound
		}
		if err != nil {
			return WriteResult{}, err
		}
		now := l.orders.Now()
		key, err := tx.AddLinkKey(ctx, newLinkKey(), now)
		if err != nil {
			return WriteResult{}, err
		}
		link := InvoiceLink{caller.MerchantID, locked.LegacyID, invoiceID, now.Add(InvoiceLinkLifetime)}
		return WriteResult{LockedOrder: locked, Link: SignedLink{link.Sign(key), link.ExpiresAt}}, tx.AppendAudit(ctx, AuditEntry{
			MerchantID: caller.MerchantID, At: now, Action: InvoiceLinked, By: caller,
			LegacyID: locked.LegacyID, Reference: locked.Reference, SubjectID: invoiceID,
		})
	})
	if errors.Is(err, ErrNotFound) {
		err = ErrInvoiceNotFound
	}
	return result, err
}

// newLinkKey returns a random key.
func newLinkKey() (key LinkKey) {
	_, _ = rand.Read(key[:]) // never returns an error
	return key
}

// KeyFor returns a key for another purpose, which all instances have: it is made from the key
// that signs links.
func (l *Links) KeyFor(ctx context.Context, purpose string) ([]byte, error) {
	key, ok, err := l.store.LinkKey(ctx)
	if err == nil && !ok {
		key, err = Change(ctx, l.orders.changes, System(), Options[LinkKey]{}, func(tx Tx) (LinkKey, error) {
			return tx.AddLinkKey(ctx, newLinkKey(), l.orders.Now())
		})
	}
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte(purpose)) // a hash never returns an error
	return mac.Sum(nil), err
}

// Open opens the file that a signed link identifies and verifies its content. admit may
// refuse it for its merchant before the file is looked up. The caller closes the file. Open
// returns ErrLinkInvalid, ErrLinkExpired, ErrInvoiceNotFound, ErrMerchantSuspended or
// ErrInvoiceDamaged.
func (l *Links) Open(ctx context.Context, text string, admit func(merchantID int64) error) (Invoice, File, error) {
	link, ok := parseLink(text)
	if !ok {
		return Invoice{}, nil, ErrLinkInvalid
	}
	key, ok, err := l.store.LinkKey(ctx)
	switch {
	case err != nil:
		return Invoice{}, nil, err
	case !ok || !hmac.Equal([]byte(text), []byte(link.Sign(key))):
		return Invoice{}, nil, ErrLinkInvalid
	case !l.orders.now().Before(link.ExpiresAt):
		return Invoice{}, nil, ErrLinkExpired
	}
	if err := admit(link.MerchantID); err != nil {
		return Invoice{}, nil, err
	}
	reference, invoice, err := l.store.InvoiceByID(ctx, link.MerchantID, link.LegacyID, link.InvoiceID)
	if err != nil {
		return Invoice{}, nil, err
	}
	return l.orders.open(ctx, reference, invoice)
}

// Revoke makes every link invalid that was made so far, by replacing the key. It returns
// when.
func (l *Links) Revoke(ctx context.Context, caller Caller, options Options[time.Time]) (time.Time, error) {
	return Change(ctx, l.orders.changes, caller, options, func(tx Tx) (time.Time, error) {
		now := l.orders.Now()
		if err := tx.ReplaceLinkKey(ctx, newLinkKey(), now); err != nil {
			return time.Time{}, err
		}
		return now, tx.AppendAudit(ctx, AuditEntry{At: now, Action: LinksRevoked, By: caller})
	})
}
