package webhook

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// Pauses between two attempts for the same event.
const (
	firstPause  = 5 * time.Second
	maxPause    = 8 * time.Hour
	pauseGrowth = 3
	// pauseSpread is the part of a pause that is random, so that the endpoints of a
	// receiver that was down do not all come back at the same moment.
	pauseSpread = 0.2
	// maxRetryAfter is how long a pause becomes at most because the endpoint asks for it.
	maxRetryAfter = time.Hour
	// maxServerPause is how long a pause becomes at most because the service's mail server
	// is out of reach.
	maxServerPause = 10 * time.Minute
)

// pause returns how long to wait after a number of failures, at least 1. random is
// from 0 to 1.
func pause(failures int, random float64) time.Duration {
	d := firstPause
	for range failures - 1 {
		if d *= pauseGrowth; d >= maxPause {
			d = maxPause
			break
		}
	}
	return time.Duration(float64(d) * (1 + pauseSpread*(2*random-1)))
}

// after returns the progress of an endpoint after a delivery of the event of a
// cursor that has the result. wait is the pause before the next attempt, if there is one.
func (e Endpoint) after(event order.MarketCursor, result Result, now time.Time, wait func(failures int) time.Duration) Progress {
	p := e.progress()
	if result.Error == "" {
		e.recovered(now)
		p = e.progress()
		p.Acknowledged = event
		return p
	}
	p.Failures++
	if e.Mail && result.Error != ErrorRefused {
		// It says nothing of the address.
		p.NextAttempt = now.Add(min(wait(p.Failures), maxServerPause))
		return p
	}
	if p.FailingSince.IsZero() {
		p.FailingSince = now
	}
	switch {
	case result.Status == http.StatusGone:
		e.fail(&p, Failed, now, "the endpoint answered 410 Gone", "gone")
		return p
	case p.Failures >= GiveUpAttempts && now.Sub(p.FailingSince) >= GiveUpAfter:
		e.fail(&p, Failed, now, "deliveries have failed for 3 days; the last error was "+result.problem(), result.Error)
		return p
	case p.State == Active && p.Failures >= warnAttempts && now.Sub(p.FailingSince) >= warnAfter:
		e.fail(&p, Failing, now, "deliveries have failed for 36 hours, and the webhook is disabled after 3 days; the last error was "+result.problem(), result.Error)
	}
	p.NextAttempt = result.attemptAfter(now, wait(p.Failures))
	return p
}

// attemptAfter returns when an attempt follows after a pause, or a longer one for which the
// endpoint asks. Whole seconds are stored: rounded up, the pause is not shorter than that.
func (r Result) attemptAfter(now time.Time, pause time.Duration) time.Time {
	return now.Add(max(pause, min(r.RetryAfter, maxRetryAfter)) + time.Second - 1).Truncate(time.Second)
}

// fail brings the endpoint to the state Failed or Failing. word is the reason in the audit
// log.
func (e Endpoint) fail(p *Progress, to State, now time.Time, reason, word string) {
	event, action, mail := order.WebhookFailed, AuditFailed, AuditMailFailed
	if to == Failing {
		event, action, mail = order.WebhookFailing, AuditFailing, AuditMailFailing
	}
	if e.Mail {
		action = mail
	}
	p.State, p.StateSet, p.Reason = to, now, reason
	p.Failure = &Failure{Audit: e.audit(action, now, order.System(), order.AuditDetail("reason", word))}
	if e.MerchantID != Marketplace && !e.Mail {
		p.Failure.Event = order.Event{Type: event, By: order.System(), At: now, Reason: order.Reason(reason), WebhookID: e.ID}
	}
}

// recovered ends the pause after a failure, and the state Failing unless a held merchant has
// failed too.
func (e *Endpoint) recovered(at time.Time) {
	e.Failures, e.FailingSince, e.NextAttempt = 0, time.Time{}, time.Time{}
	if e.State == Failing && !slices.ContainsFunc(e.Held, func(h Held) bool { return h.Failures > 0 }) {
		e.State, e.StateSet, e.Reason = Active, at, ""
	}
}

// problem returns the error of a result for people.
func (r Result) problem() string {
	switch r.Error {
	case ErrorStatus:
		return "the status " + strconv.Itoa(r.Status)
	case ErrorTimeout:
		return "no response in time"
	case ErrorAddress:
		return "an address that is not public"
	case ErrorResolve:
		return "a host name without an address"
	case ErrorRefused:
		return "a refusal"
	case ErrorTLS:
		return "a certificate that is not valid"
	}
	return "a broken connection"
}
