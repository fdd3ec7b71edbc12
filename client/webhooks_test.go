package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// The secret is that of the example in the Standard Webhooks specification.
const (
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	webhookBody   = `{"seq":17,"type":"order.state_changed","orderReference":"R-1","orderId":5,"at":"2026-11-20T09:15:00Z","actor":"merchant","tokenId":null,"requestId":null,"data":{"from":"registered","to":"in-processing","reason":null}}`
)

var webhookTime = time.Unix(1795165200, 0)

func webhookHeader(signature string) http.Header {
	return http.Header{"Webhook-Id": {"msg_1_17_x"}, "Webhook-Timestamp": {"1795165200"}, "Webhook-Signature": {signature}}
}

// signWebhook returns the signature of a text.
func signWebhook(secret, text string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TestWebhookExample verifies the example of the specification.
// Proves decision 5 (webhooks: signatures, secrets).
func TestWebhookExample(t *testing.T) {
	t.Parallel()
	header := http.Header{
		"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}
	testenv.Of(verifyWebhook(time.Unix(1614265330, 0), header, []byte(`{"test": 2432232314}`), []string{webhookSecret})).Must(t)
}

// Proves decision 5 (webhooks: signatures, secrets).
func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	good := signWebhook(webhookSecret, "msg_1_17_x.1795165200."+webhookBody)
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of 24 byt"))
	for name, test := range map[string]struct {
		header  http.Header
		body    string
		now     time.Time
		secrets []string
		valid   bool
	}{
		"good":                     {webhookHeader("v1," + good), webhookBody, webhookTime, []string{webhookSecret}, true},
		"at the end of the window": {webhookHeader("v1," + good), webhookBody, webhookTime.Add(5 * time.Minute), []string{webhookSecret}, true},
		"second signature":         {webhookHeader("v1,AAAA v2," + good + " v1," + good), webhookBody, webhookTime, []string{webhookSecret}, true},
		"second secret":            {webhookHeader("v1," + good), webhookBody, webhookTime, []string{other, webhookSecret}, true},
		"another secret":           {webhookHeader("v1," + good), webhookBody, webhookTime, []string{other}, false},
		"no secret":                {webhookHeader("v1," + good), webhookBody, webhookTime, nil, false},
		"old":                      {webhookHeader("v1," + good), webhookBody, webhookTime.Add(5*time.Minute + time.Second), []string{webhookSecret}, false},
		"of the future":            {webhookHeader("v1," + good), webhookBody, webhookTime.Add(-6 * time.Minute), []string{webhookSecret}, false},
		"changed body":             {webhookHeader("v1," + good), strings.Replace(webhookBody, "17", "18", 1), webhookTime, []string{webhookSecret}, false},
		"another version":          {webhookHeader("v2," + good), webhookBody, webhookTime, []string{webhookSecret}, false},
		"cut signature":            {webhookHeader("v1," + good[:20]), webhookBody, webhookTime, []string{webhookSecret}, false},
		"no signature":             {webhookHeader(""), webhookBody, webhookTime, []string{webhookSecret}, false},
		"no headers":               {http.Header{}, webhookBody, webhookTime, []string{webhookSecret}, false},
		"another id":               {http.Header{"Webhook-Id": {"msg_2"}, "Webhook-Timestamp": {"1795165200"}, "Webhook-Signature": {"v1," + good}}, webhookBody, webhookTime, []string{webhookSecret}, false},
	} {
		event, err := verifyWebhook(test.now, test.header, []byte(test.body), test.secrets)
		if test.valid && (err != nil || event.Seq != 17 || event.Type != OrderStateChanged) {
			t.Errorf("%s: %+v, %v", name, event, err)
		}
		if !test.valid && !errors.Is(err, ErrWebhook) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := verifyWebhook(webhookTime, webhookHeader("v1,"+good), []byte(webhookBody), []string{"whsec_?"}); err == nil || errors.Is(err, ErrWebhook) {
		t.Errorf("an invalid secret: %v", err)
	}
}
