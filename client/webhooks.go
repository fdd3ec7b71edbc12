package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook is the error of a request that is no valid delivery of a webhook: somebody
// else has sent it, or it was changed, or it is an old one sent again. Respond with 401
// and ignore its content.
var ErrWebhook = errors.New("the request is not a valid delivery of a webhook")

// WebhookTest is the type of a test event. It has the number 0 and no order.
const WebhookTest EventType = "webhook.test"

// webhookTolerance is how much the time of a delivery may differ from the clock.
const webhookTolerance = 5 * time.Minute

// secretPrefix begins the text of a secret; the rest is base64.
const secretPrefix = "whsec_"

// VerifyWebhook verifies a delivery of a webhook, given the header and the whole body
// of the request, and returns its event. The error is ErrWebhook unless one of the
// secrets has signed it within the last minutes. Use several secrets while one is
// replaced.
//
// The header Webhook-Id is the same at each attempt to deliver an event: a receiver that
// stores it processes no event twice.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (Event, error) {
	return verifyWebhook(time.Now(), header, body, secrets)
}

func verifyWebhook(now time.Time, header http.Header, body []byte, secrets []string) (Event, error) {
	id, sent := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	switch {
	case id == "" || err != nil:
		return Event{}, fmt.Errorf("%w: a header is missing", ErrWebhook)
	case now.Sub(time.Unix(seconds, 0)).Abs() > webhookTolerance:
		return Event{}, fmt.Errorf("%w: its time is more than %v off", ErrWebhook, webhookTolerance)
	}
	signed := append([]byte(id+"."+sent+"."), body...)
	valid := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil || len(key) == 0 {
			return Event{}, errors.New("the secret of the webhook is not valid; it begins with " + secretPrefix)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write(signed) // a hash never returns an error
		valid = valid || hasSignature(header.Get("Webhook-Signature"), mac.Sum(nil))
	}
	if !valid {
		return Event{}, fmt.Errorf("%w: no signature matches", ErrWebhook)
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("read the event of a webhook: %w", err)
	}
	return event, nil
}

// hasSignature reports whether one of the signatures of a header is the expected one.
// The comparison takes the same time for every signature.
func hasSignature(header string, expected []byte) bool {
	for _, signature := range strings.Fields(header) {
		version, text, _ := strings.Cut(signature, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, expected) {
			return true
		}
	}
	return false
}
