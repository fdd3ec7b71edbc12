package webhook

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestSign compares with the example of the Standard Webhooks specification.
// Proves decision 5 (webhooks: signatures, secrets).
func TestSign(t *testing.T) {
	t.Parallel()
	const secret, want = delivery.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	testenv.Of(Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), secret)).Want(t, "signature", want)
	other := NewSecret()
	if len(other) != len(delivery.SecretPrefix)+44 || other == NewSecret() {
		t.Errorf("a new secret has %d characters", len(other))
	}
	both, err := Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), other, secret)
	if err != nil || !strings.HasSuffix(both, " "+want) || strings.Count(both, "v1,") != 2 {
		t.Errorf("%s, %v", both, err)
	}
	if _, err := Sign("a", time.Unix(0, 0), nil, "whsec_?"); err == nil {
		t.Error("a secret that is not base64 signs")
	}
}

// TestSecretIsNotPrinted checks that no way of printing shows a secret.
// Proves decision 5 (webhooks: signatures, secrets).
func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	secret := NewSecret()
	credential := delivery.Secret(secret)
	e := Endpoint{Secret: secret, OldSecret: secret, Access: Access{Headers: map[string]delivery.Secret{"X-A": credential}, Username: "u", Password: credential}}
	testenv.Equal(t, "printed", "whsec_... ...", fmt.Sprint(secret, " ", delivery.Secret("Bearer x")))
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "endpoint", e)
	for _, text := range []string{fmt.Sprint(secret, credential), fmt.Sprintf("%s %q %v %+v %#v %x", secret, secret, e, e, e, secret), log.String()} {
		testenv.Lacks(t, "printed", text, string(secret)[len(delivery.SecretPrefix):], fmt.Sprintf("%x", string(secret)))
	}
}

// TestFailure checks what is recorded of a webhook that is disabled or about to be, and that a
// request ends either. That of the marketplace has no event.
// Proves decision 5 (webhooks: pauses, end).
func TestFailure(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		state     delivery.State
		action    order.AuditAction
		event     order.EventType
		onDisable delivery.State
	}{
		{delivery.Failing, AuditFailing, order.WebhookFailing, delivery.Disabled},
		{delivery.Failed, AuditFailed, order.WebhookFailed, delivery.Failed},
	} {
		e := Endpoint{Cursor: delivery.Cursor{Key: delivery.Key{MerchantID: 355, ID: 7}, State: row.state, StateSet: at, Reason: "r"}}
		want := delivery.Failure{
			Word: "gone", Event: order.Event{Type: row.event, By: order.System(), At: at, Reason: "r", WebhookID: 7},
			Audit: order.AuditEntry{MerchantID: 355, At: at, Action: row.action, By: order.System(), SubjectID: 7, Detail: "reason=gone"},
		}
		testenv.Equal(t, "failure", want, (*Service)(nil).Failure(e.Cursor, "gone"))
		market := e.Cursor
		market.MerchantID, want.Audit.MerchantID, want.Event = delivery.Marketplace, delivery.Marketplace, order.Event{}
		testenv.Equal(t, "failure of the marketplace's", want, (*Service)(nil).Failure(market, "gone"))
		enabled, disabled := e, e
		enabled.Failures = 3
		enabled.update(Change{Enabled: new(true)}, at)
		disabled.update(Change{Enabled: new(false)}, at)
		testenv.Equal(t, "states after both requests", []delivery.State{delivery.Active, row.onDisable}, []delivery.State{enabled.State, disabled.State})
		testenv.Equal(t, "failures and reason, enabled", "0 ", fmt.Sprint(enabled.Failures, " ", enabled.Reason))
	}
}
