package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// device is a person's device with one passkey, and what it answers.
type device struct {
	key          *ecdsa.PrivateKey
	user         string
	origin, host string
	flags        byte // of the authenticator data: 1 present, 4 verified
	counter      byte
	challenge    string
}

// answer signs a challenge.
func (d device) answer(t *testing.T) string {
	t.Helper()
	host := sha256.Sum256([]byte(d.host))
	data := append(host[:], d.flags, 0, 0, 0, d.counter)
	client := testenv.Of(json.Marshal(map[string]any{"type": "webauthn.get", "challenge": d.challenge, "origin": d.origin, "crossOrigin": false})).Must(t)
	said := sha256.Sum256(client)
	digest := sha256.Sum256(append(bytes.Clone(data), said[:]...))
	signature := testenv.Of(ecdsa.SignASN1(rand.Reader, d.key, digest[:])).Must(t)
	encode := base64.RawURLEncoding.EncodeToString
	return string(testenv.Of(json.Marshal(map[string]any{
		"id": encode([]byte("credential")), "rawId": encode([]byte("credential")), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"authenticatorData": encode(data), "clientDataJSON": encode(client), "signature": encode(signature), "userHandle": encode([]byte(d.user))},
	})).Must(t))
}

// TestPasskeyAnswers checks answers of a device, good and bad ones: none counts twice.
// Proves decision 1 (people in a browser).
func TestPasskeyAnswers(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	p := NewPasskeys("https://orders.example.com:443/shop", func() time.Time { return now })
	testenv.Equal(t, "origin", "https://orders.example.com", p.Origin)
	mine := testenv.Of(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).Must(t)
	other := testenv.Of(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).Must(t)
	point := testenv.Of(mine.PublicKey.Bytes()).Must(t)
	public := fmt.Appendf(nil, "\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20%s\x22\x58\x20%s", point[1:33], point[33:]) // COSE
	stored := passkeyRecord{User: []byte("user"), Credential: webauthn.Credential{
		ID: []byte("credential"), PublicKey: public, AttestationFormat: "none", Authenticator: webauthn.Authenticator{SignCount: 7},
	}}
	record := testenv.Of(stored.text()).Must(t)
	key := make([]byte, 32)
	for name, test := range map[string]struct {
		change func(d *device)
		sealed func(sealed string) string // nil: as it is
		later  time.Duration
		want   error
	}{
		"good":                {},
		"the last moment":     {later: AttemptLifetime},
		"too late":            {later: AttemptLifetime + time.Millisecond, want: ErrRefused},
		"another origin":      {change: func(d *device) { d.origin = "https://orders.example.com:444" }, want: ErrRefused},
		"another host":        {change: func(d *device) { d.host = "example.com" }, want: ErrRefused},
		"another key":         {change: func(d *device) { d.key = other }, want: ErrRefused},
		"another user":        {change: func(d *device) { d.user = "another" }, want: ErrRefused},
		"another challenge":   {change: func(d *device) { d.challenge = base64.RawURLEncoding.EncodeToString(key) }, want: ErrRefused},
		"nobody verified":     {change: func(d *device) { d.flags = 1 }, want: ErrRefused},
		"the same counter":    {change: func(d *device) { d.counter = 7 }, want: token.ErrPasskeyCopied},
		"a counter that ends": {change: func(d *device) { d.counter = 0 }, want: token.ErrPasskeyCopied},
		"no attempt":          {sealed: func(string) string { return "" }, want: ErrRefused},
		"a home-made attempt": {sealed: func(string) string {
			return testenv.Of(p.seal([]byte("x"), signInPurpose, &webauthn.SessionData{})).Must(t)
		}, want: ErrRefused},
		"one to make a passkey": {sealed: func(string) string {
			_, sealed, err := p.Offer(key, "session", "Νίκος", nil)
			testenv.NoError(t, err)
			return sealed
		}, want: ErrRefused},
	} {
		begun := now
		options, sealed, err := p.Ask(key)
		testenv.NoError(t, err)
		d := device{key: mine, user: "user", origin: p.Origin, host: "orders.example.com", flags: 5, counter: 8}
		d.challenge = options.(protocol.PublicKeyCredentialRequestOptions).Challenge.String()
		if test.change != nil {
			test.change(&d)
		}
		if test.sealed != nil {
			sealed = test.sealed(sealed)
		}
		now = now.Add(test.later)
		use := func(record string) (string, error) {
			_, verify, err := p.Read(key, sealed, d.answer(t))
			if err != nil {
				return "", err
			}
			return verify(record)
		}
		after, err := use(record)
		testenv.Equal(t, name, test.want, err)
		if test.want == nil {
			d.counter = 9
			testenv.Of(use(after)).WantError(t, name+", again", ErrRefused)
		}
		now = begun.Add(time.Second)
	}
}

// TestPasskeyAddresses knows for which addresses browsers have passkeys.
func TestPasskeyAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://orders.example.com": true, "http://localhost:8080": true, "https://192.0.2.1": false, "http://[::1]:8080": false, "": false, ":": false,
	} {
		testenv.Equal(t, address, want, NewPasskeys(address, time.Now) != nil)
	}
}
