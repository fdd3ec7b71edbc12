package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// SecretPrefix begins the text of every secret. Secret scanners find leaked secrets by
// it.
const SecretPrefix = "whsec_"

// secretBytes is the length of a secret. The specification allows 24 to 64.
const secretBytes = 32

// Secret signs deliveries. The conversion to string is its text, SecretPrefix and then
// the key in base64; printing it shows only the prefix.
type Secret string

// NewSecret returns a random secret.
func NewSecret() Secret {
	var key [secretBytes]byte
	_, _ = rand.Read(key[:]) // never fails
	return Secret(SecretPrefix + base64.StdEncoding.EncodeToString(key[:]))
}

// String implements fmt.Stringer without the key.
func (Secret) String() string { return SecretPrefix + "..." }

// Format implements fmt.Formatter, so that no verb prints the key.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(s.String())) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// key returns the bytes that sign.
func (s Secret) key() ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), SecretPrefix))
	if err != nil {
		return nil, fmt.Errorf("the secret of a webhook is not base64: %w", err)
	}
	return key, nil
}

// Sign returns the value of the header webhook-signature: a signature for each
// secret, separated by spaces.
func Sign(messageID string, at time.Time, body []byte, secrets ...Secret) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := secret.key()
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		// A hash never returns an error.
		_, _ = mac.Write([]byte(messageID + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
