package webhook

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestSign compares with the example of the Standard Webhooks specification.
// Proves decision 5 (webhooks: signatures, secrets).
func TestSign(t *testing.T) {
	t.Parallel()
	const secret, want = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got, err := Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), secret)
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	other := NewSecret()
	if len(other) != len(SecretPrefix)+44 || other == NewSecret() {
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
	credential := Credential(secret)
	e := Endpoint{Secret: secret, OldSecret: secret, Access: Access{Headers: map[string]Credential{"X-A": credential}, Username: "u", Password: credential}}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "endpoint", e)
	for _, text := range []string{fmt.Sprint(secret, credential), fmt.Sprintf("%s %q %v %+v %#v %x", secret, secret, e, e, e, secret), log.String()} {
		if strings.Contains(text, string(secret)[len(SecretPrefix):]) || strings.Contains(text, fmt.Sprintf("%x", string(secret))) {
			t.Errorf("printed: %s", text)
		}
	}
}

// TestPauses checks the pauses: they grow, have limits, and are spread.
// Proves decision 5 (webhooks: pauses, end).
func TestPauses(t *testing.T) {
	t.Parallel()
	want := []time.Duration{5, 15, 45, 135, 405, 1215, 3645, 10935, 28800, 28800, 28800}
	for i, seconds := range want {
		for random, factor := range map[float64]float64{0: 0.8, 0.5: 1, 1: 1.2} {
			expected := time.Duration(float64(seconds*time.Second) * factor)
			if got := pause(i+1, random); (got - expected).Abs() > time.Millisecond {
				t.Errorf("after %d failures, random %g: %v, not %v", i+1, random, got, expected)
			}
		}
	}
	if got := pause(1000, 1); got > maxPause+maxPause/5 {
		t.Errorf("after 1000 failures: %v", got)
	}
}

// TestGivesUp fails every delivery: the endpoint is failing after 36 hours and disabled after
// three days, with a reason, and not earlier. Days without an attempt do not count.
// Proves decision 5 (webhooks: pauses, end).
func TestGivesUp(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	now, e := start, Endpoint{Key: Key{MerchantID: 355, ID: 7}, State: Active, Acknowledged: order.MarketCursor{Seq: 4}}
	attempts := 0
	var failing Endpoint
	for e.State.Delivers() {
		attempts++
		p := e.after(order.MarketCursor{Seq: 5}, Result{Error: ErrorStatus, Status: 503}, now, func(n int) time.Duration { return pause(n, 0.5) })
		if p.Acknowledged.Seq != 4 || p.Failures != attempts || !p.FailingSince.Equal(start) {
			t.Fatalf("progress %+v after %d attempts", p, attempts)
		}
		was := e.State
		e = e.apply(p)
		if f := p.Failure; was == Active && e.State == Failing {
			failing = e
			if took := now.Sub(start); took < GiveUpAfter/2 || took > GiveUpAfter/2+maxPause {
				t.Errorf("failing after %v", took)
			}
			if f == nil || f.Audit.Detail != "reason=status" || f.Audit.Action != AuditFailing || f.Event.Type != order.WebhookFailing ||
				string(f.Event.Reason) != p.Reason || f.Event.WebhookID != 7 || !e.StateSet.Equal(now) {
				t.Errorf("failure %+v", f)
			}
		} else if e.State == was && f != nil {
			t.Errorf("a second failure %+v", f)
		}
		if e.State.Delivers() {
			now = e.NextAttempt
		} else if f := p.Failure; f == nil || f.Audit.Detail != "reason=status" || f.Audit.Action != AuditFailed ||
			string(f.Event.Reason) != p.Reason || f.Event.WebhookID != 7 {
			t.Errorf("failure %+v", f)
		}
	}
	if took := now.Sub(start); took < GiveUpAfter || took > GiveUpAfter+maxPause || attempts < 10 || attempts > 30 {
		t.Errorf("gave up after %v and %d attempts", took, attempts)
	}
	idle := Endpoint{State: Active}
	attempts, warned := 0, 0
	for now = start; idle.State.Delivers(); now = now.Add(2 * GiveUpAfter) {
		attempts++
		idle = idle.apply(idle.after(order.MarketCursor{Seq: 5}, Result{Error: ErrorTimeout}, now, func(n int) time.Duration { return pause(n, 0.5) }))
		if warned == 0 && idle.State == Failing {
			warned = attempts
		}
	}
	if attempts != GiveUpAttempts || warned != GiveUpAttempts/2 {
		t.Errorf("failing after %d, gave up after %d attempts with six days between them", warned, attempts)
	}
	if want := "deliveries have failed for 36 hours, and the webhook is disabled after 3 days; the last error was the status 503"; failing.Reason != want {
		t.Errorf("reason %q", failing.Reason)
	}
	well := failing.after(order.MarketCursor{Seq: 5}, Result{Status: 204}, now, nil)
	testenv.Equal(t, "failing, after a success", Progress{Acknowledged: order.MarketCursor{Seq: 5}, State: Active, StateSet: now}, well)
	retried := failing
	if fields := retried.update(Change{Enabled: new(true)}, now); len(fields) > 0 || retried.State != Active || retried.Failures != 0 {
		t.Errorf("failing, enabled by a request: %v, %+v", fields, retried)
	}
	if fields := failing.update(Change{Enabled: new(false)}, now); len(fields) != 1 || failing.State != Disabled || failing.Reason != "" {
		t.Errorf("failing, disabled by a request: %v, %+v", fields, failing)
	}
	if e.Reason != "deliveries have failed for 3 days; the last error was the status 503" {
		t.Errorf("reason %q", e.Reason)
	}
	gone := Endpoint{State: Active}.after(order.MarketCursor{Seq: 1}, Result{Error: ErrorStatus, Status: 410}, start, nil)
	if gone.State != Failed || gone.Reason != "the endpoint answered 410 Gone" || !gone.StateSet.Equal(start) {
		t.Errorf("after a 410: %+v", gone)
	}
	for asked, want := range map[time.Duration]time.Duration{0: time.Minute, 30 * time.Second: time.Minute, 10 * time.Minute: 10 * time.Minute, 48 * time.Hour: time.Hour} {
		// Whole seconds are stored: a part of one must not make the pause shorter.
		for at, more := range map[time.Time]time.Duration{start: 0, start.Add(time.Millisecond): 999 * time.Millisecond} {
			p := Endpoint{State: Active}.after(order.MarketCursor{Seq: 5}, Result{Error: ErrorStatus, Status: 503, RetryAfter: asked}, at, func(int) time.Duration { return time.Minute })
			if got := p.NextAttempt.Sub(at); got != want+more {
				t.Errorf("asked to wait for %v: %v, want %v", asked, got, want+more)
			}
		}
	}
	done := Endpoint{State: Active, Failures: 3, FailingSince: start, NextAttempt: start}.after(order.MarketCursor{Seq: 9}, Result{Status: 204}, start, nil)
	testenv.Equal(t, "after a success", Progress{Acknowledged: order.MarketCursor{Seq: 9}, State: Active}, done)
	for _, kind := range []string{ErrorTimeout, ErrorAddress, ErrorResolve, ErrorTLS, ErrorConnection} {
		if text := (Result{Error: kind}).problem(); text == "" {
			t.Errorf("%s has no text", kind)
		}
	}
}

// TestMailGivesUp checks that refusals disable an e-mail address like failures a webhook,
// without an event, and that failures of the mail server do not.
func TestMailGivesUp(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]State{ErrorRefused: Failed, ErrorConnection: Active} {
		now, e := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Endpoint{Key: Key{MerchantID: 355, ID: 7, Mail: true}, State: Active}
		end := now.Add(2 * GiveUpAfter)
		var actions []order.AuditAction
		for e.State.Delivers() && now.Before(end) {
			p := e.after(order.MarketCursor{Seq: 5}, Result{Error: kind}, now, func(n int) time.Duration { return pause(n, 0.5) })
			if f := p.Failure; f != nil {
				actions = append(actions, f.Audit.Action)
				if f.Event.Type != 0 {
					t.Errorf("%s: event %+v", kind, f.Event)
				}
			}
			e = e.apply(p)
			if longest := maxServerPause; kind != ErrorRefused && e.NextAttempt.Sub(now) > longest {
				t.Errorf("%s: a pause of %v", kind, e.NextAttempt.Sub(now))
			}
			now = e.NextAttempt
		}
		if e.State != want || want == Failed && !slices.Equal(actions, []order.AuditAction{AuditMailFailing, AuditMailFailed}) {
			t.Errorf("%s: %v, %v", kind, e.State, actions)
		}
	}
}

// TestHolds fails all deliveries to an endpoint of the marketplace until it is given up, then
// those of one merchant, and then those that held merchants have.
func TestHolds(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	wait := func(n int) time.Duration { return pause(n, 0.5) }
	event := func(merchantID int64) order.MarketCursor {
		return order.MarketCursor{Position: merchantID, MerchantID: merchantID, Seq: 5}
	}
	refused := Result{Error: ErrorStatus, Status: 500}
	now, e, next := start, Endpoint{State: Active}, int64(1)
	for e.State.Delivers() {
		p := e.afterOrHold(event(next), refused, now, wait)
		if p.Acknowledged != e.Acknowledged {
			testenv.Equal(t, "cursor", event(next), p.Acknowledged)
			next++
		}
		e = e.apply(p)
		now = e.NextAttempt
	}
	if took := now.Sub(start); took < GiveUpAfter || took > GiveUpAfter+maxPause || len(e.Held) > 15 || len(e.Held) != int(next-1) {
		t.Errorf("gave up after %v, holds %d, before merchant %d", took, len(e.Held), next)
	}
	testenv.Equal(t, "first held", Held{1, 5, 2, start.Add(firstPause), start.Add(firstPause).Add(wait(2))}, e.Held[0])

	e = Endpoint{State: Active, Failures: 1, FailingSince: start}
	e = e.apply(e.afterOrHold(event(1), Result{Error: ErrorStatus, Status: 503, RetryAfter: time.Minute}, start, wait))
	if len(e.Held) != 1 || !e.NextAttempt.Equal(start.Add(time.Minute)) || !e.Held[0].NextAttempt.Equal(e.NextAttempt) {
		t.Errorf("asked to wait: %+v", e)
	}
	full := Endpoint{State: Active, Failures: 1, Held: make([]Held, MaxHeld)}
	if p := full.afterOrHold(event(1), refused, start, wait); len(p.Held) != MaxHeld || p.Acknowledged != full.Acknowledged || p.NextAttempt.IsZero() {
		t.Errorf("one more than MaxHeld: %+v", p)
	}

	// The other merchants' events are acknowledged all the time: the endpoint is not disabled.
	record := order.EventRecord{MerchantID: 1}
	record.Seq = 5
	var failing time.Duration
	for now.Sub(start) < 4*GiveUpAfter {
		e = e.apply(e.afterOrHold(event(2), Result{Status: 204}, now, wait))
		if now = e.Held[0].NextAttempt; e.State == Failing && failing == 0 {
			failing = now.Sub(e.Held[0].FailingSince)
		}
		e = e.apply(e.afterHeld(record, refused, now, wait))
	}
	if failing < warnAfter || failing > warnAfter+2*maxPause || e.State != Failing || e.Failures != 0 || !strings.HasPrefix(e.Reason, "deliveries for merchant 1 have failed for 36 hours; ") {
		t.Errorf("failing after %v: %+v", failing, e)
	}
	// From then on, all deliveries fail.
	failed := e
	for begun := now; failed.State.Delivers(); now = failed.Held[0].NextAttempt {
		if failed.FailingSince.IsZero() {
			failed = failed.apply(failed.after(event(2), refused, now, wait))
		}
		failed = failed.apply(failed.afterHeld(record, refused, now, wait))
		if took := now.Sub(begun); (failed.State == Failed) != (took >= GiveUpAfter) {
			t.Fatalf("after %v: %+v", took, failed)
		}
	}
	testenv.Equal(t, "given up", Held{1, 5, GiveUpAttempts, start, now}, failed.Held[0])
	recovered := e.apply(e.afterHeld(record, Result{Status: 204}, now, wait))
	testenv.Equal(t, "after a success", Endpoint{State: Active, StateSet: now, Acknowledged: event(2), Held: []Held{{MerchantID: 1, Event: 6, NextAttempt: now}}}, recovered)
	if gone := e.afterHeld(record, Result{Error: ErrorStatus, Status: 410}, now, wait); gone.State != Failed || gone.Failure == nil {
		t.Errorf("410: %+v", gone)
	}
	asked := recovered.afterHeld(record, Result{Error: ErrorStatus, Status: 503, RetryAfter: time.Hour}, now, wait)
	if asked.Acknowledged != e.Acknowledged || asked.Failures != 0 || !asked.NextAttempt.Equal(now.Add(time.Hour)) || asked.Held[0].NextAttempt.Before(asked.NextAttempt) {
		t.Errorf("a held merchant, asked to wait: %+v", asked)
	}
	enabled := new(true)
	e.State = Failed
	e.update(Change{Enabled: enabled}, now)
	testenv.Equal(t, "enabled", Endpoint{State: Active, StateSet: now, Acknowledged: event(2), Held: []Held{{MerchantID: 1, Event: 5, NextAttempt: now}}}, e)
}
