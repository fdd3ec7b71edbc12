package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/mail"
	"strings"
	"time"

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

// The refusals about e-mail addresses.
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
)

// Mail is an e-mail.
type Mail struct {
	Key Key // of the address
	// ID is the same at each attempt for the same events.
	ID      string
	At      time.Time
	To      string
	Subject string
	Body    string // plain text
	End     string // URL that ends the e-mails to the address; empty: none
}

// Digest is what an e-mail is about. The orders are unanswered.
type Digest struct {
	Merchant order.Merchant
	New      []order.Order // new since the last e-mail
	Near     []order.Order // about to pass their deadline; not in New
}

// Mailer sends e-mails. How long it waits for the mail server is for it to know.
type Mailer interface {
	Send(ctx context.Context, m Mail) Result
}

// MailTexts writes the e-mails to an address, except for ID and At.
type MailTexts interface {
	Digest(to Endpoint, d Digest) Mail
	// Confirmation has the link with a secret that confirms the address for a merchant
	// with a name.
	Confirmation(to Endpoint, merchant, secret string) Mail
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

// Addresses returns the e-mail addresses of a merchant, by id.
func (s *Service) Addresses(ctx context.Context, merchantID int64) ([]Endpoint, error) {
	return s.store.Webhooks(ctx, merchantID, true)
}

// AddressAddition is an e-mail address to be added.
type AddressAddition struct {
	MerchantID int64
	Merchant   string        // name, for the e-mail
	Address    string        // checked with AddressProblem
	Language   string        // that MailTexts knows
	Types      Types         // OrderCreated, DeadlineNear or both
	Every      time.Duration // of Intervals
}

// AddAddress adds an e-mail address and sends it a link that confirms it; until then it
// gets nothing else. Errors: ErrOrders, ErrTooMany, ErrAddressExists, ErrTooManyLinks, ErrNotSent.
func (s *Service) AddAddress(ctx context.Context, caller order.Caller, a AddressAddition, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	e := Endpoint{
		Key: Key{MerchantID: a.MerchantID, Mail: true}, URL: a.Address, Types: a.Types, CreatedAt: at, Language: a.Language, Every: a.Every,
		Secret: Secret(rand.Text()), State: Pending,
	}
	secret := e.newLink(at)
	added, err := s.inTx(ctx, caller, a.MerchantID, options, func(tx Tx) (Endpoint, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return Endpoint{}, ErrOrders
		}
		if err := e.maySendLink(ctx, tx, at); err != nil {
			return Endpoint{}, err
		}
		var err error
		if e.ID, err = tx.AddWebhook(ctx, e); err != nil {
			return Endpoint{}, err
		}
		return e, tx.Audit(ctx, e.audit(AuditMailAdded, at, caller, e.linkDetail()))
	})
	if err != nil {
		return Endpoint{}, err
	}
	return added, s.sendLink(ctx, caller, added, a.Merchant, secret)
}

// RenewLink sends another link to an address that is not confirmed, or that the service has
// given up. merchant is the name of the merchant. Errors: ErrNotFound, ErrOrders, ErrTooSoon,
// ErrTooManyLinks, ErrNotSent.
func (s *Service) RenewLink(ctx context.Context, caller order.Caller, key Key, merchant string, options order.Options[Endpoint]) (Endpoint, error) {
	at := s.second()
	var secret string
	e, err := s.change(ctx, caller, key, options, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		if !caller.Can(order.ScopeOrdersRead) {
			return order.AuditEntry{}, ErrOrders
		}
		if e.State != Failed && (e.State != Pending || at.Before(e.LinkUntil.Add(linkPause-LinkLifetime))) {
			return order.AuditEntry{}, ErrTooSoon
		}
		if err := e.maySendLink(ctx, tx, at); err != nil {
			return order.AuditEntry{}, err
		}
		e.State, e.StateSet, e.Reason = Pending, at, ""
		secret = e.newLink(at)
		return e.audit(AuditMailLink, at, caller, e.linkDetail()), nil
	})
	if err != nil {
		return Endpoint{}, err
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
func (e *Endpoint) maySendLink(ctx context.Context, tx Tx, at time.Time) error {
	links, err := tx.Links(ctx, e.MerchantID, e.linkDetail(), at.Add(-linkPeriod))
	if err == nil && (links.ToAddress-links.ToAddressFailed >= maxLinks || links.All-links.Failed >= maxLinksOfMerchant ||
		links.ToAddress >= maxLinks*attemptsALink || links.All >= maxLinksOfMerchant*attemptsALink) {
		err = ErrTooManyLinks
	}
	return err
}

// linkDetail is the detail of the audit entries about links to the address. It tells it
// from others of the merchant, but is too short to tell which address it is.
func (e *Endpoint) linkDetail() string {
	sum := sha256.Sum256([]byte(strings.ToLower(e.URL)))
	return order.AuditDetail("address", hex.EncodeToString(sum[:2]))
}

// newLink gives the address a new link and returns its secret.
func (e *Endpoint) newLink(at time.Time) (secret string) {
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
func (s *Service) sendLink(ctx context.Context, caller order.Caller, e Endpoint, merchant, secret string) error {
	m := s.texts.Confirmation(e, merchant, secret)
	m.Key, m.At = e.Key, s.now().UTC()
	m.ID = "link_" + number(e.ID) + "_" + number(m.At.UnixNano())
	sent := make(chan error, 1)
	go func() { sent <- s.sendCounted(context.WithoutCancel(ctx), caller, e, m) }()
	timer := time.NewTimer(linkWait)
	defer timer.Stop()
	select {
	case err := <-sent:
		return err
	case <-timer.C:
		return nil
	}
}

// sendCounted sends a link, and records if the mail server did not take it: then it does not
// count.
func (s *Service) sendCounted(ctx context.Context, caller order.Caller, e Endpoint, m Mail) error {
	result := s.mailer.Send(ctx, m)
	if result.Error == "" {
		return nil
	}
	detail := e.linkDetail() + " " + order.AuditDetail("error", result.Error)
	_, err := s.inTx(ctx, caller, e.MerchantID, order.Options[Endpoint]{}, func(tx Tx) (Endpoint, error) {
		return e, tx.Audit(ctx, e.audit(AuditMailNotSent, s.second(), caller, detail))
	})
	return errors.Join(ErrNotSent, err)
}

// ConfirmAddress confirms an address with the secret of its link, which works once. The
// address gets the events from now on. Errors: ErrNotFound, ErrLink.
func (s *Service) ConfirmAddress(ctx context.Context, caller order.Caller, key Key, secret string) (Endpoint, error) {
	at := s.second()
	caller = recipientOf(caller, key)
	return s.change(ctx, caller, key, order.Options[Endpoint]{}, func(tx Tx, e *Endpoint) (order.AuditEntry, error) {
		if e.State != Pending || !at.Before(e.LinkUntil) || subtle.ConstantTimeCompare([]byte(e.LinkHash), []byte(hashLink(secret))) != 1 {
			return order.AuditEntry{}, ErrLink
		}
		newest, err := tx.NewestEvent(ctx, key.MerchantID)
		e.Acknowledged = order.MarketCursor{Seq: newest}
		e.State, e.StateSet, e.LinkHash, e.LinkUntil = Active, at, "", time.Time{}
		e.recovered(at)
		return e.audit(AuditMailConfirmed, at, caller, ""), err
	})
}

// EndMails removes an address with the secret of its e-mails. Errors: ErrNotFound, ErrLink.
func (s *Service) EndMails(ctx context.Context, caller order.Caller, key Key, secret string) error {
	at := s.second()
	caller = recipientOf(caller, key)
	_, err := s.inTx(ctx, caller, key.MerchantID, order.Options[Endpoint]{}, func(tx Tx) (Endpoint, error) {
		e, err := tx.LockWebhook(ctx, key)
		if err == nil && subtle.ConstantTimeCompare([]byte(e.Secret), []byte(secret)) != 1 {
			err = ErrLink
		}
		if err == nil {
			err = tx.RemoveWebhook(ctx, key)
		}
		if err != nil {
			return Endpoint{}, err
		}
		return e, tx.Audit(ctx, e.audit(AuditMailEnded, at, caller, ""))
	})
	return err
}

// recipientOf returns the caller of a request by a link in an e-mail, which acts for the
// merchant of the address.
func recipientOf(caller order.Caller, key Key) order.Caller {
	caller.Actor, caller.MerchantID = order.ActorMerchant, key.MerchantID
	return caller
}
