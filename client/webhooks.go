package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
// replaced. A webhook with a Batch needs WebhookEvents.
//
// The header Webhook-Id is the same at each attempt to deliver an event: a receiver that
// stores it processes no event twice.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (Event, error) {
	events, batch, err := decodeDelivery(time.Now(), header, body, secrets)
	if err == nil && batch {
		err = errors.New("the delivery of a webhook is a batch, which WebhookEvents reads")
	}
	if err != nil {
		return Event{}, err
	}
	return events[0], nil
}

// WebhookEvents is VerifyWebhook for every webhook, with a Batch or without: it returns
// the events of the delivery, in order. The response acknowledges all of them, or none.
//
// An event may arrive again, also in another batch. It is the same one if Seq and At are.
func WebhookEvents(header http.Header, body []byte, secrets ...string) ([]Event, error) {
	events, _, err := decodeDelivery(time.Now(), header, body, secrets)
	if err == nil && slices.ContainsFunc(events, func(e Event) bool { return e.Type == "" }) {
		err = errors.New("the delivery of a webhook has an event without a type")
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// decodeDelivery verifies a delivery and returns its event, or those of its batch.
func decodeDelivery(now time.Time, header http.Header, body []byte, secrets []string) (events []Event, batch bool, err error) {
	if err := verifyWebhook(now, header, body, secrets); err != nil {
		return nil, false, err
	}
	var many struct{ Events *[]Event } // nil: absent
	if err = json.Unmarshal(body, &many); err == nil && many.Events == nil {
		events = make([]Event, 1)
		err = json.Unmarshal(body, &events[0])
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the event of a webhook: %w", err)
	}
	if many.Events != nil {
		return *many.Events, true, nil
	}
	return events, false, nil
}

// verifyWebhook returns nil if one of the secrets has signed a delivery.
func verifyWebhook(now time.Time, header http.Header, body []byte, secrets []string) error {
	id, sent := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	switch {
	case id == "" || err != nil:
		return fmt.Errorf("%w: a header is missing", ErrWebhook)
	case now.Sub(time.Unix(seconds, 0)).Abs() > webhookTolerance:
		return fmt.Errorf("%w: its time is more than %v off", ErrWebhook, webhookTolerance)
	}
	signed := append([]byte(id+"."+sent+"."), body...)
	valid := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil || len(key) == 0 {
			return errors.New("the secret of the webhook is not valid; it begins with " + secretPrefix)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write(signed) // a hash never returns an error
		valid = valid || hasSignature(header.Get("Webhook-Signature"), mac.Sum(nil))
	}
	if !valid {
		return fmt.Errorf("%w: no signature matches", ErrWebhook)
	}
	return nil
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
