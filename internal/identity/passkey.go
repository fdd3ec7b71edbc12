package identity

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"merchantorders/internal/strict"
	"merchantorders/internal/token"
)

// Passkeys checks the passkeys of one address of the service (WebAuthn): what a person's device
// signs, once it has verified the person. The device finds the passkey by itself.
type Passkeys struct {
	Origin  string // of the pages at which they work
	relying *webauthn.WebAuthn
	now     func() time.Time
}

// NewPasskeys returns the passkeys of an address, nil if browsers have none for it: for an IP
// address.
func NewPasskeys(address string, now func() time.Time) *Passkeys {
	base, err := url.Parse(address)
	if err != nil || base.Hostname() == "" {
		return nil
	}
	host := strings.ToLower(base.Host)
	if port, ok := map[string]string{"https": ":443", "http": ":80"}[base.Scheme]; ok {
		host = strings.TrimSuffix(host, port) // as browsers name it
	}
	p := &Passkeys{Origin: base.Scheme + "://" + host, now: now}
	p.relying, err = webauthn.New(&webauthn.Config{
		RPID: strings.ToLower(base.Hostname()), RPDisplayName: "Merchant Orders", RPOrigins: []string{p.Origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: protocol.ResidentKeyRequired(), ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil
	}
	return p
}

// passkeyAttempt is a challenge on its way. The browser keeps it.
type passkeyAttempt struct {
	Data  webauthn.SessionData
	Begun int64 // Unix milliseconds
}

// passkeyRecord is a token.Token.Passkey. It is the user of the library: each passkey has its
// own, so that one device keeps those of several people and stores.
type passkeyRecord struct {
	User       []byte // random
	Credential webauthn.Credential
	Used       int64 // passkeyAttempt.Begun of the last sign-in
	name       string
}

func (r *passkeyRecord) WebAuthnID() []byte          { return r.User }
func (r *passkeyRecord) WebAuthnName() string        { return r.name }
func (r *passkeyRecord) WebAuthnDisplayName() string { return r.name }

func (r *passkeyRecord) WebAuthnCredentials() []webauthn.Credential {
	return []webauthn.Credential{r.Credential}
}

// text returns the record as it is stored.
func (r *passkeyRecord) text() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// seal returns the attempt that begins now as text for the browser.
func (p *Passkeys) seal(key []byte, purpose string, data *webauthn.SessionData) (string, error) {
	return seal(key, p.Origin+purpose, passkeyAttempt{Data: *data, Begun: p.now().UnixMilli()})
}

// unseal returns the attempt of a text that seal has returned within AttemptLifetime. Errors:
// ErrRefused.
func (p *Passkeys) unseal(key []byte, purpose, sealed string) (a passkeyAttempt, err error) {
	if err = unseal(key, p.Origin+purpose, sealed, &a); err == nil && p.now().UnixMilli()-a.Begun > AttemptLifetime.Milliseconds() {
		err = fmt.Errorf("%w: the attempt is too old", ErrRefused)
	}
	return a, err
}

const signInPurpose = " passkey sign-in "

// Ask returns what a browser asks a device for to sign somebody in, as JSON, and the sealed
// attempt.
func (p *Passkeys) Ask(key []byte) (options any, sealed string, err error) {
	asked, data, err := p.relying.BeginDiscoverableLogin()
	if err != nil {
		return nil, "", err
	}
	sealed, err = p.seal(key, signInPurpose, data)
	return asked.Response, sealed, err
}

// Read returns the id of the credential that a device has answered Ask with, and a function
// that checks the answer for token.Sessions.UsePasskey: each attempt counts once. Errors:
// ErrRefused, of the function also token.ErrPasskeyCopied.
func (p *Passkeys) Read(key []byte, sealed, answer string) (credential []byte, verify func(record string) (string, error), err error) {
	attempt, err := p.unseal(key, signInPurpose, sealed)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return nil, nil, refused(err)
	}
	return parsed.RawID, func(text string) (string, error) {
		var record passkeyRecord
		if err := json.Unmarshal([]byte(text), &record); err != nil {
			return "", err
		}
		_, used, err := p.relying.ValidatePasskeyLogin(func([]byte, []byte) (webauthn.User, error) { return &record, nil }, attempt.Data, parsed)
		switch {
		case err != nil:
			return "", refused(err)
		case attempt.Begun <= record.Used:
			return "", fmt.Errorf("%w: there was a later sign-in", ErrRefused)
		case used.Authenticator.CloneWarning:
			return "", token.ErrPasskeyCopied
		}
		record.Credential, record.Used = *used, attempt.Begun
		return record.text()
	}, nil
}

// Offer returns what a browser asks a device for to make a passkey in a session, as JSON, and
// the sealed attempt. name is what the device shows; others are the records of passkeys one of
// which the device must not have.
func (p *Passkeys) Offer(key []byte, session, name string, others []string) (options any, sealed string, err error) {
	var known []protocol.CredentialDescriptor
	for _, text := range others {
		var record passkeyRecord
		if err := json.Unmarshal([]byte(text), &record); err != nil {
			return nil, "", err
		}
		known = append(known, record.Credential.Descriptor())
	}
	offered, data, err := p.relying.BeginRegistration(&passkeyRecord{User: []byte(rand.Text()), name: name}, webauthn.WithExclusions(known))
	if err != nil {
		return nil, "", err
	}
	sealed, err = p.seal(key, session, data)
	return offered.Response, sealed, err
}

// Made returns the id and the record of the credential that a device has answered Offer with,
// for token.Sessions.AddPasskey. Errors: ErrRefused.
func (p *Passkeys) Made(key []byte, session, sealed, answer string) (credential []byte, record string, err error) {
	attempt, err := p.unseal(key, session, sealed)
	if err != nil {
		return nil, "", err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return nil, "", refused(err)
	}
	user := passkeyRecord{User: attempt.Data.UserID}
	made, err := p.relying.CreateCredential(&user, attempt.Data, parsed)
	if err != nil {
		return nil, "", refused(err)
	}
	user.Credential = *made
	user.Credential.Attestation = webauthn.CredentialAttestation{} // of what model the device is
	record, err = user.text()
	return made.ID, record, err
}

// refused returns an ErrRefused with what the library says.
func refused(err error) error {
	why := err.Error()
	if detailed, ok := errors.AsType[*protocol.Error](err); ok {
		why += ": " + detailed.DevInfo
	}
	return fmt.Errorf("%w: %s", ErrRefused, strict.Words(why))
}
