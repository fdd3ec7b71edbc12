package digest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

const (
	// MaxAddresses is how many e-mail addresses a merchant may have.
	MaxAddresses = 10
	// MaxAddress is the length of the longest address (RFC 5321, 4.5.3.1.3).
	MaxAddress = 254
	// LinkLifetime is how long the link that confirms an address is valid.
	LinkLifetime = 48 * time.Hour
	// linkPause is the time between two links for an address.
	linkPause = time.Minute
	// maxLinks and maxLinksOfMerchant are how many links a merchant can send within
	// linkPeriod to an address, also if it removes and adds it, and to all addresses: the
	// recipients may be strangers.
	maxLinks, maxLinksOfMerchant = 3, 30
	linkPeriod                   = 24 * time.Hour
	// attemptsALink is how many links may be tried for each that may be sent: a link that no
	// mail server takes does not count as sent, but makes it ask the recipient's.
	attemptsALink = 10
	// linkWait is how long a request waits until the mail server has taken a link. It may
	// take the link later.
	linkWait = 10 * time.Second
)

// Intervals are the times between two digests that an address can have.
var Intervals = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}

// The actions of e-mail addresses in the audit log.
const (
	AuditAdded     order.AuditAction = "mail.added"    // not confirmed yet
	AuditLink      order.AuditAction = "mail.link"     // another link to confirm the address
	AuditNotSent   order.AuditAction = "mail.not_sent" // the mail server did not take a link
	AuditConfirmed order.AuditAction = "mail.confirmed"
	AuditRemoved   order.AuditAction = "mail.removed"
	AuditEnded     order.AuditAction = "mail.ended" // removed by the recipient
	AuditFailed    order.AuditAction = "mail.failed"
	AuditFailing   order.AuditAction = "mail.failing"
)

// The refusals about e-mail addresses, beside those of delivery.
var (
	// ErrAddressExists: the merchant has the address.
	ErrAddressExists = errors.New("the merchant has this e-mail address already")
	// ErrLink: the link does not exist, was used, or has expired.
	ErrLink = errors.New("the link is not valid")
	// ErrTooSoon: the last link was sent less than a minute ago, or the address is confirmed.
	ErrTooSoon = errors.New("a link was sent just now, or is not needed")
	// ErrTooManyLinks: the merchant has sent maxLinks or maxLinksOfMerchant links.
	ErrTooManyLinks = errors.New("too many links were sent")
	// ErrNotSent: the change was made, but the mail server did not take the e-mail.
	ErrNotSent = errors.New("the e-mail was not sent")
	// ErrNoMailbox is an ErrNotSent: the mail server has refused the address for ever.
	ErrNoMailbox = fmt.Errorf("%w: the address takes none", ErrNotSent)
)

// Mail is an e-mail.
type Mail struct {
	Key delivery.Key // of the address
	// ID is the same at each attempt for the same events.
	ID      string
	At      time.Time
	To      string
	Subject string
	Body    string // plain text
	End     string // URL that ends the e-mails to the address; empty: none
}

// Mailer sends e-mails. How long it waits for the mail server is for it to know.
type Mailer interface {
	Send(ctx context.Context, m Mail) delivery.Result
}

// MailTexts writes the e-mails to an address, except for ID and At.
type MailTexts interface {
	Digest(to Address, d Digest) Mail
	// Confirmation has the link with a secret that confirms the address for a merchant
	// with a name.
	Confirmation(to Address, merchant, secret string) Mail
}

// AddressProblem reports whether a text is no address that may get e-mails.
func AddressProblem(text string) bool {
	parsed, err := mail.ParseAddress(text)
	// The comparison refuses names, comments and quoted addresses.
	if err != nil || parsed.Address != text || len(text) > MaxAddress {
		return true
	}
	domain := text[strings.LastIndexByte(text, '@')+1:]
	// Names without a dot, and addresses of machines, are of the mail server's own network.
	return !strings.Contains(domain, ".") || strings.HasPrefix(domain, "[") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Address is an e-mail address of a merchant.
type Address struct {
	delivery.Cursor
	Email    string
	Secret   delivery.Secret // of the link by which a recipient ends the e-mails
	Language string          // code of the language
	Every    time.Duration   // at least between two digests of new orders
	// LinkHash is the hash of the secret in the link that confirms the address, which is
	// valid until LinkUntil; empty: there is none.
	LinkHash  string
	LinkUntil time.Time
}

// Store holds e-mail addresses. Every method may return order.ErrUnavailable in addition to
// the errors that it names.
type Store interface {
	order.Reader
	order.KeyStore
	// Addresses returns the addresses of a merchant, by id.
	Addresses(ctx context.Context, merchantID int64) ([]Address, error)
	// InAddressTx runs fn in one transaction; see order.Store.InTx.
	InAddressTx(ctx context.Context, fn func(Tx) error) error
	// LastMail returns when the newest digest to any address was sent; zero: never.
	LastMail(ctx context.Context) (time.Time, error)
	// Merchants is that of order.Store.
	Merchants(ctx context.Context, filter order.MerchantFilter) ([]order.Merchant, error)
}

// Tx is one transaction that changes addresses. Add may also return ErrAddressExists.
type Tx interface {
	delivery.Tx[Address]
	// Links returns what a merchant has sent to its addresses after a time, by the audit
	// entries: those with a detail, and all.
	Links(ctx context.Context, merchantID int64, detail string, after time.Time) (Links, error)
}

// Service manages e-mail addresses, and is the sender of their kind. All that it holds of its own
// are counts, so any number of services can work on one store.
type Service struct {
	Options
	changes delivery.Changes[Address, Tx]
	results *delivery.Counts
}

// Options are what a Service works with.
type Options struct {
	Store  Store
	Mailer Mailer
	Texts  MailTexts
	Now    func() time.Time
	Log    *slog.Logger // gets why an e-mail was not sent
	// Changed is called after a change of a merchant's addresses.
	Changed func(merchantID int64)
}

// NewService returns a Service.
func NewService(o Options) *Service {
	return &Service{Options: o, changes: delivery.NewChanges(o.Store, o.Store.InAddressTx, o.Now, o.Changed), results: delivery.NewCounts(results...)}
}

// sent is the result of an e-mail without an error, and results are all.
const sent = "sent"

var results = []string{
	sent, delivery.ErrorRefused, delivery.ErrorServer, delivery.ErrorTimeout, delivery.ErrorResolve, delivery.ErrorTLS, delivery.ErrorConnection,
}

// Counts returns the number of e-mails by result. The nil Service has sent none.
func (s *Service) Counts() map[string]uint64 {
	if s == nil {
		return delivery.NewCounts(results...).All()
	}
	return s.results.All()
}

// send sends an e-mail and counts it.
func (s *Service) send(ctx context.Context, m Mail) delivery.Result {
	result := s.Mailer.Send(ctx, m)
	if result.Error != "" && ctx.Err() != nil {
		return result // the caller has ended it: nothing is known
	}
	if result.Error != "" {
		s.Log.Warn("e-mail not sent", "merchant", m.Key.MerchantID, "address", m.Key.ID, "message", m.ID, "error", result.Error, "answer", result.Response)
	}
	s.results.Add(cmp.Or(result.Error, sent))
	return result
}

// second returns the time of the service's clock in whole seconds.
func (s *Service) second() time.Time { return s.Now().UTC().Truncate(time.Second) }

// List returns the addresses of a merchant, by id.
func (s *Service) List(ctx context.Context, merchantID int64) ([]Address, error) {
	return s.Store.Addresses(ctx, merchantID)
}

// Add adds an e-mail address of a merchant, which has its Email, checked with AddressProblem,
// Types (order.OrderCreated, order.DeadlineNear or both), a Language that MailTexts knows, and one
// of Intervals. It sends it a link that confirms it; until then it gets nothing else. merchant is
// the name of the merchant. Errors: delivery.ErrOrders, delivery.ErrTooMany, ErrAddressExists,
// ErrTooManyLinks, ErrNotSent.
func (s *Service) Add(ctx context.Context, caller order.Caller, e Address, merchant string, options order.Options[Address]) (Address, error) {
	at := s.second()
	e.Kind, e.CreatedAt, e.State, e.Secret = Kind, at, delivery.Pending, delivery.Secret(rand.Text())
	secret := e.newLink(at)
	added, err := s.changes.Make(ctx, caller, e.MerchantID, options, func(tx Tx) (Address, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return Address{}, delivery.ErrOrders
		}
		if err := e.maySendLink(ctx, tx, at); err != nil {
			return Address{}, err
		}
		var err error
		if e.ID, err = tx.Add(ctx, e); err != nil {
			return Address{}, err
		}
		return e, tx.AppendAudit(ctx, e.Audit(AuditAdded, at, caller, e.linkDetail()))
	})
	if err != nil {
		return Address{}, err
	}
	return added, s.sendLink(ctx, caller, added, merchant, secret)
}

// RenewLink sends another link to an address that is not confirmed, or that the service has
// given up. merchant is the name of the merchant. Errors: delivery.ErrNotFound, delivery.ErrOrders, ErrTooSoon,
// ErrTooManyLinks, ErrNotSent.
func (s *Service) RenewLink(ctx context.Context, caller order.Caller, key delivery.Key, merchant string, options order.Options[Address]) (Address, error) {
	at := s.second()
	var secret string
	e, err := s.changes.Update(ctx, caller, key, options, func(tx Tx, e *Address) (order.AuditEntry, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return order.AuditEntry{}, delivery.ErrOrders
		}
		if e.State != delivery.Failed && (e.State != delivery.Pending || at.Before(e.LinkUntil.Add(linkPause-LinkLifetime))) {
			return order.AuditEntry{}, ErrTooSoon
		}
		if err := e.maySendLink(ctx, tx, at); err != nil {
			return order.AuditEntry{}, err
		}
		e.State, e.StateSet, e.Reason = delivery.Pending, at, ""
		secret = e.newLink(at)
		return e.Audit(AuditLink, at, caller, e.linkDetail()), nil
	})
	if err != nil {
		return Address{}, err
	}
	return e, s.sendLink(ctx, caller, e, merchant, secret)
}

// Links are how many links a merchant has tried to send to an address and to all, and how many
// of them the mail server has not taken.
type Links struct {
	ToAddress, All          int64
	ToAddressFailed, Failed int64
}

// maySendLink returns ErrTooManyLinks if the address, or its merchant, has no link left.
func (e *Address) maySendLink(ctx context.Context, tx Tx, at time.Time) error {
	links, err := tx.Links(ctx, e.MerchantID, e.linkDetail(), at.Add(-linkPeriod))
	if err == nil && (links.ToAddress-links.ToAddressFailed >= maxLinks || links.All-links.Failed >= maxLinksOfMerchant ||
		links.ToAddress >= maxLinks*attemptsALink || links.All >= maxLinksOfMerchant*attemptsALink) {
		err = ErrTooManyLinks
	}
	return err
}

// linkDetail is the detail of the audit entries about links to the address. It tells it
// from others of the merchant, but is too short to tell which address it is.
func (e *Address) linkDetail() string {
	sum := sha256.Sum256([]byte(strings.ToLower(e.Email)))
	return order.AuditDetail("address", hex.EncodeToString(sum[:2]))
}

// newLink gives the address a new link and returns its secret.
func (e *Address) newLink(at time.Time) (secret string) {
	secret = rand.Text()
	e.LinkHash, e.LinkUntil = hashLink(secret), at.Add(LinkLifetime)
	return secret
}

func hashLink(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return base64.RawStdEncoding.EncodeToString(hash[:])
}

// sendLink sends the e-mail that confirms an address, and returns ErrNotSent if the mail
// server refuses it at once. A client that disconnects does not stop it: the same request is
// not made again.
func (s *Service) sendLink(ctx context.Context, caller order.Caller, e Address, merchant, secret string) error {
	m := s.Texts.Confirmation(e, merchant, secret)
	m.Key, m.At = e.Key, s.Now().UTC()
	m.ID = "link_" + strconv.FormatInt(e.ID, 10) + "_" + strconv.FormatInt(m.At.UnixNano(), 10)
	done := make(chan error, 1)
	go func() { done <- s.sendRecorded(context.WithoutCancel(ctx), caller, e, m) }()
	select {
	case err := <-done:
		return err
	case <-time.After(linkWait):
		return nil
	}
}

// sendRecorded sends a link, and records if the mail server did not take it: then it does not
// count.
func (s *Service) sendRecorded(ctx context.Context, caller order.Caller, e Address, m Mail) error {
	result := s.send(ctx, m)
	if result.Error == "" {
		return nil
	}
	detail := e.linkDetail() + " " + order.AuditDetail("error", result.Error)
	_, err := s.changes.Make(ctx, caller, e.MerchantID, order.Options[Address]{}, func(tx Tx) (Address, error) {
		return e, tx.AppendAudit(ctx, e.Audit(AuditNotSent, s.second(), caller, detail))
	})
	if result.Error == delivery.ErrorRefused {
		return errors.Join(ErrNoMailbox, err)
	}
	return errors.Join(ErrNotSent, err)
}

// Confirm confirms an address with the secret of its link, which works once. The
// address gets the events from now on. Errors: delivery.ErrNotFound, ErrLink.
func (s *Service) Confirm(ctx context.Context, caller order.Caller, key delivery.Key, secret string) (Address, error) {
	at := s.second()
	caller = recipientOf(caller, key)
	return s.changes.Update(ctx, caller, key, order.Options[Address]{}, func(tx Tx, e *Address) (order.AuditEntry, error) {
		if e.State != delivery.Pending || !at.Before(e.LinkUntil) || subtle.ConstantTimeCompare([]byte(e.LinkHash), []byte(hashLink(secret))) != 1 {
			return order.AuditEntry{}, ErrLink
		}
		newest, err := tx.NewestEvent(ctx, key.MerchantID)
		e.Acknowledged = order.MarketCursor{Seq: newest}
		e.State, e.StateSet, e.LinkHash, e.LinkUntil = delivery.Active, at, "", time.Time{}
		e.Recover(at)
		return e.Audit(AuditConfirmed, at, caller, ""), err
	})
}

// End removes an address with the secret of its e-mails. Errors: delivery.ErrNotFound, ErrLink.
func (s *Service) End(ctx context.Context, caller order.Caller, key delivery.Key, secret string) error {
	caller = recipientOf(caller, key)
	_, err := s.changes.Remove(ctx, caller, key, order.Options[Address]{}, func(e Address) (order.AuditEntry, error) {
		if subtle.ConstantTimeCompare([]byte(e.Secret), []byte(secret)) != 1 {
			return order.AuditEntry{}, ErrLink
		}
		return e.Audit(AuditEnded, s.second(), caller, ""), nil
	})
	return err
}

// Remove removes an address, or returns delivery.ErrNotFound.
func (s *Service) Remove(ctx context.Context, caller order.Caller, key delivery.Key, options order.Options[Address]) (Address, error) {
	return s.changes.Remove(ctx, caller, key, options, func(e Address) (order.AuditEntry, error) {
		return e.Audit(AuditRemoved, s.second(), caller, ""), nil
	})
}

// recipientOf returns the caller of a request by a link in an e-mail, which acts for the
// merchant of the address.
func recipientOf(caller order.Caller, key delivery.Key) order.Caller {
	caller.Actor, caller.MerchantID = order.ActorMerchant, key.MerchantID
	return caller
}
