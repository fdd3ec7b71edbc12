package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
)

// secretBytes is the length of a secret. The specification allows 24 to 64.
const secretBytes = 32

// NewSecret returns a random secret, which signs deliveries: delivery.SecretPrefix and then the key in
// base64.
func NewSecret() delivery.Secret {
	var key [secretBytes]byte
	_, _ = rand.Read(key[:]) // never fails
	return delivery.Secret(delivery.SecretPrefix + base64.StdEncoding.EncodeToString(key[:]))
}

// Sign returns the value of the header webhook-signature: a signature for each
// secret, separated by spaces.
func Sign(messageID string, at time.Time, body []byte, secrets ...delivery.Secret) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), delivery.SecretPrefix))
		if err != nil {
			return "", fmt.Errorf("the secret of a webhook is not base64: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		// A hash never returns an error.
		_, _ = mac.Write([]byte(messageID + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
