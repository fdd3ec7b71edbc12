package delivery

import (
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func wait(failures int) time.Duration { return pause(failures, 0.5) }

// after returns the cursor after a delivery, and the failure of the endpoint, if any.
func after(c Cursor, event order.MarketCursor, result Result, now time.Time) (Cursor, *Failure) {
	p := Progress{Cursor: c}
	p.after(event, result, now, wait)
	return p.Cursor, p.Failure
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
	for until, want := range map[time.Duration]bool{0: true, time.Second: false, LongestWait: false, LongestWait + time.Second: true} {
		at := Backoff{FailingSince: start.Add(until), NextAttempt: start.Add(until)}
		c := Cursor{Backoff: at, Held: []Held{{Backoff: Backoff{NextAttempt: start.Add(time.Hour)}}, {Backoff: at}}}
		c.correct(start)
		testenv.Equal(t, "a held merchant is due "+until.String()+" before its attempt", want, c.heldIsDue(start))
		testenv.Equal(t, "the endpoint is due", want, !c.NextAttempt.After(start))
		testenv.Equal(t, "failing since", start, c.FailingSince)
	}
}

// TestGivesUp fails every delivery: the endpoint is failing after 36 hours and disabled after
// three days, with a reason, and not earlier. Days without an attempt do not count, nor do
// errors that say nothing of the endpoint.
// Proves decision 5 (webhooks: pauses, end).
func TestGivesUp(t *testing.T) {
	t.Parallel()
	refused, before, event := Result{Error: ErrorStatus, Status: 503}, order.MarketCursor{Seq: 4}, order.MarketCursor{Seq: 5}
	now, c, attempts, was := start, Cursor{State: Active, Acknowledged: before}, 0, Active
	var failing Cursor
	for c.State.Delivers() {
		attempts++
		var f *Failure
		c, f = after(c, event, refused, now)
		if c.Acknowledged != before || c.Failures != attempts || !c.FailingSince.Equal(start) {
			t.Fatalf("%+v after %d attempts", c, attempts)
		}
		if took := now.Sub(start); c.State == was && f != nil {
			t.Errorf("failure without another state: %+v", f)
		} else if least := map[State]time.Duration{Failing: GiveUpAfter / 2, Failed: GiveUpAfter}[c.State]; c.State != was && (took < least || took > least+maxPause || f == nil || f.Word != "status" || !c.StateSet.Equal(now)) {
			t.Errorf("%v after %v: %+v", c.State, took, f)
		}
		if was = c.State; c.State == Failing && failing.State == 0 {
			failing = c
		}
		now = c.NextAttempt
	}
	if attempts < 10 || attempts > 30 {
		t.Errorf("gave up after %d attempts", attempts)
	}
	testenv.Equal(t, "reason of a warning", "deliveries have failed for 36 hours, and the webhook is disabled after 3 days; the last error was the status 503", failing.Reason)
	testenv.Equal(t, "reason", "deliveries have failed for 3 days; the last error was the status 503", c.Reason)

	for blameless, want := range map[bool]State{false: Failed, true: Active} {
		rare, warned, n := Cursor{State: Active}, 0, 0
		for now = start; rare.State.Delivers() && n < 2*GiveUpAttempts; now = now.Add(2 * GiveUpAfter) {
			n++
			rare, _ = after(rare, event, Result{Error: ErrorTimeout, Blameless: blameless}, now)
			if rare.State == Failing && warned == 0 {
				warned = n
			}
			if blameless && rare.NextAttempt.Sub(now) > maxServerPause {
				t.Errorf("a pause of %v", rare.NextAttempt.Sub(now))
			}
		}
		if rare.State != want || want == Failed && (n != GiveUpAttempts || warned != GiveUpAttempts/2) {
			t.Errorf("blameless %t: failing after %d, %v after %d attempts with six days between them", blameless, warned, rare.State, n)
		}
	}

	well, _ := after(failing, event, Result{Status: 204}, now)
	testenv.Equal(t, "failing, after a success", Cursor{Acknowledged: event, State: Active, StateSet: now}, well)
	gone, f := after(Cursor{State: Active}, event, Result{Error: ErrorStatus, Gone: "410 Gone"}, start)
	testenv.Equal(t, "gone", Cursor{State: Failed, Reason: "the endpoint answered 410 Gone", StateSet: start, Backoff: Backoff{Failures: 1, FailingSince: start}}, gone)
	testenv.Equal(t, "failure of one that is gone", &Failure{Word: "gone"}, f)
	for asked, want := range map[time.Duration]time.Duration{0: firstPause, time.Second: firstPause, 10 * time.Minute: 10 * time.Minute, 48 * time.Hour: time.Hour} {
		// Whole seconds are stored: a part of one must not make the pause shorter.
		for at, more := range map[time.Time]time.Duration{start: 0, start.Add(time.Millisecond): 999 * time.Millisecond} {
			c, _ := after(Cursor{State: Active}, event, Result{Error: ErrorStatus, Status: 503, RetryAfter: asked}, at)
			testenv.Equal(t, "asked to wait for "+asked.String(), want+more, c.NextAttempt.Sub(at))
		}
	}
	texts := make(map[string]bool)
	for _, kind := range []string{ErrorStatus, ErrorTimeout, ErrorAddress, ErrorResolve, ErrorTLS, ErrorConnection, ErrorRefused} {
		texts[(Result{Error: kind}).problem()] = true
	}
	testenv.Equal(t, "texts of errors", 7, len(texts))
}

// TestHolds fails all deliveries to an endpoint of the marketplace until it is given up, then
// those of one merchant, and then those that held merchants have.
func TestHolds(t *testing.T) {
	t.Parallel()
	event := func(merchantID int64) order.MarketCursor {
		return order.MarketCursor{Position: merchantID, MerchantID: merchantID, Seq: 5}
	}
	refused := Result{Error: ErrorStatus, Status: 500}
	afterOrHold := func(c Cursor, event order.MarketCursor, result Result, now time.Time) Cursor {
		p := Progress{Cursor: c}
		p.afterOrHold(event, 1, result, now, wait)
		return p.Cursor
	}
	record := make([]order.EventRecord, 1)
	record[0].MerchantID, record[0].Seq = 1, 5
	afterHeld := func(c Cursor, result Result, now time.Time) Cursor {
		p := Progress{Cursor: c}
		p.afterHeld(record, 3, result, now, wait)
		return p.Cursor
	}
	now, e, next := start, Cursor{State: Active}, int64(1)
	for e.State.Delivers() {
		was := e.Acknowledged
		if e = afterOrHold(e, event(next), refused, now); e.Acknowledged != was {
			testenv.Equal(t, "cursor", event(next), e.Acknowledged)
			next++
		}
		now = e.NextAttempt
	}
	if took := now.Sub(start); took < GiveUpAfter || took > GiveUpAfter+maxPause || len(e.Held) > 15 || len(e.Held) != int(next-1) {
		t.Errorf("gave up after %v, holds %d, before merchant %d", took, len(e.Held), next)
	}
	testenv.Equal(t, "first held", Held{1, 5, Backoff{2, start.Add(firstPause), start.Add(firstPause).Add(wait(2))}, 1}, e.Held[0])

	once := Cursor{State: Active, Backoff: Backoff{Failures: 1, FailingSince: start}}
	e = afterOrHold(once, event(1), Result{Error: ErrorStatus, Status: 503, RetryAfter: time.Minute}, start)
	if len(e.Held) != 1 || !e.NextAttempt.Equal(start.Add(time.Minute)) || !e.Held[0].NextAttempt.Equal(e.NextAttempt) {
		t.Errorf("asked to wait: %+v", e)
	}
	// Which of several events is refused shows when they are sent one by one.
	several := Progress{Cursor: once}
	several.afterOrHold(event(1), 7, refused, start, wait)
	if several.Batch != -7 || len(several.Held) != 0 || several.Acknowledged != once.Acknowledged || !several.NextAttempt.Equal(start) {
		t.Errorf("several events refused: %+v", several)
	}
	once.Held = make([]Held, MaxHeld)
	if full := afterOrHold(once, event(1), refused, start); len(full.Held) != MaxHeld || full.Acknowledged != once.Acknowledged || full.NextAttempt.IsZero() {
		t.Errorf("one more than MaxHeld: %+v", full)
	}

	// The other merchants' events are acknowledged all the time: the endpoint is not disabled.
	var failing time.Duration
	for now.Sub(start) < 4*GiveUpAfter {
		e = afterOrHold(e, event(2), Result{Status: 204}, now)
		if now = e.Held[0].NextAttempt; e.State == Failing && failing == 0 {
			failing = now.Sub(e.Held[0].FailingSince)
		}
		e = afterHeld(e, refused, now)
	}
	if failing < warnAfter || failing > warnAfter+2*maxPause || e.State != Failing || e.Failures != 0 || !strings.HasPrefix(e.Reason, "deliveries for merchant 1 have failed for 36 hours; ") {
		t.Errorf("failing after %v: %+v", failing, e)
	}
	// From then on, all deliveries fail.
	failed := e
	for begun := now; failed.State.Delivers(); now = failed.Held[0].NextAttempt {
		if failed.FailingSince.IsZero() {
			failed, _ = after(failed, event(2), refused, now)
		}
		failed = afterHeld(failed, refused, now)
		if took := now.Sub(begun); (failed.State == Failed) != (took >= GiveUpAfter) {
			t.Fatalf("after %v: %+v", took, failed)
		}
	}
	testenv.Equal(t, "given up", Held{1, 5, Backoff{GiveUpAttempts, start, now}, 1}, failed.Held[0])
	recovered := afterHeld(e, Result{Status: 204}, now)
	testenv.Equal(t, "after a success", Cursor{State: Active, StateSet: now, Acknowledged: event(2), Held: []Held{{1, 6, Backoff{NextAttempt: now}, 3}}}, recovered)
	testenv.Equal(t, "state of one that is gone", Failed, afterHeld(e, Result{Error: ErrorStatus, Gone: "410 Gone"}, now).State)
	asked := afterHeld(recovered, Result{Error: ErrorStatus, Status: 503, RetryAfter: time.Hour}, now)
	if asked.Acknowledged != e.Acknowledged || asked.Failures != 0 || !asked.NextAttempt.Equal(now.Add(time.Hour)) || asked.Held[0].NextAttempt.Before(asked.NextAttempt) {
		t.Errorf("a held merchant, asked to wait: %+v", asked)
	}
	e.State = Failed
	e.EndPauses(now)
	testenv.Equal(t, "after the end of the pauses", Cursor{State: Failed, StateSet: e.StateSet, Reason: e.Reason, Acknowledged: event(2), Held: []Held{{1, 5, Backoff{NextAttempt: now}, 1}}}, e)
}
