package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"reflect"
	"strconv"
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
	testenv.NoError(t, verifyWebhook(time.Unix(1614265330, 0), header, []byte(`{"test": 2432232314}`), []string{webhookSecret}))
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
		events, _, err := decodeDelivery(test.now, test.header, []byte(test.body), test.secrets)
		if test.valid && (err != nil || len(events) != 1 || events[0].Seq != 17 || events[0].Type != OrderStateChanged) {
			t.Errorf("%s: %+v, %v", name, events, err)
		}
		if !test.valid && !errors.Is(err, ErrWebhook) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := verifyWebhook(webhookTime, webhookHeader("v1,"+good), []byte(webhookBody), []string{"whsec_?"}); err == nil || errors.Is(err, ErrWebhook) {
		t.Errorf("an invalid secret: %v", err)
	}
}

// TestWebhookEvents reads deliveries with and without a batch.
func TestWebhookEvents(t *testing.T) {
	t.Parallel()
	next := strings.Replace(webhookBody, "17", "18", 1)
	for name, test := range map[string]struct {
		body   string
		events []int64 // numbers; nil: an error
		single bool    // VerifyWebhook returns the event
	}{
		"single":              {webhookBody, []int64{17}, true},
		"batch":               {`{"events":[` + webhookBody + "," + next + `]}`, []int64{17, 18}, false},
		"batch of one":        {` {"more":0, "events" : [` + webhookBody + "]}\n", []int64{17}, false},
		"empty batch":         {`{"events":[]}`, []int64{}, false},
		"events in the data":  {strings.Replace(webhookBody, `"data":{`, `"data":{"events":[{"seq":1}],`, 1), []int64{17}, true},
		"no type":             {`{"seq":17}`, nil, true}, // as ever
		"a batch of null":     {`{"events":[` + webhookBody + `,null]}`, nil, false},
		"a batch of a number": {`{"events":[17]}`, nil, false},
		"events are null":     {`{"events":null}`, nil, true},
		"events are a text":   {`{"events":"17"}`, nil, false},
		"a list":              {`[` + webhookBody + `]`, nil, false},
		"cut":                 {`{"events":[` + webhookBody + `]`, nil, false},
	} {
		sent := strconv.FormatInt(time.Now().Unix(), 10)
		header := make(http.Header)
		header.Set("WEBHOOK-ID", "msg_1")
		header.Set("webhook-timestamp", sent)
		header.Set("Webhook-signature", "v1,"+signWebhook(webhookSecret, "msg_1."+sent+"."+test.body))
		events, err := WebhookEvents(header, []byte(test.body), webhookSecret)
		var got []int64
		if err == nil {
			got = make([]int64, 0)
		}
		for _, e := range events {
			got = append(got, e.Seq)
		}
		_, singleErr := VerifyWebhook(header, []byte(test.body), webhookSecret)
		if !reflect.DeepEqual(got, test.events) || (singleErr == nil) != test.single || errors.Is(errors.Join(err, singleErr), ErrWebhook) {
			t.Errorf("%s: %v, %v; as a single one %v", name, got, err, singleErr)
		}
		testenv.Of(WebhookEvents(header, []byte(strings.Replace(test.body, "17", "71", 1)+" "), webhookSecret)).WantError(t, name+", changed", ErrWebhook)
	}
}
