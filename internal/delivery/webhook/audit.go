package webhook

import (
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// The actions of webhooks and e-mail addresses in the audit log.
const (
	AuditAdded         order.AuditAction = "webhook.added"
	AuditChanged       order.AuditAction = "webhook.changed" // fields are those that changed
	AuditRemoved       order.AuditAction = "webhook.removed"
	AuditSecretRotated order.AuditAction = "webhook.secret_rotated"
	AuditReplayed      order.AuditAction = "webhook.replayed" // after is the new cursor
	AuditFailed        order.AuditAction = "webhook.failed"   // disabled by the service
	AuditFailing       order.AuditAction = "webhook.failing"  // about to be disabled

	AuditMailAdded     order.AuditAction = "mail.added"    // not confirmed yet
	AuditMailLink      order.AuditAction = "mail.link"     // another link to confirm the address
	AuditMailNotSent   order.AuditAction = "mail.not_sent" // the mail server did not take a link
	AuditMailConfirmed order.AuditAction = "mail.confirmed"
	AuditMailRemoved   order.AuditAction = "mail.removed"
	AuditMailEnded     order.AuditAction = "mail.ended" // removed by the recipient
	AuditMailFailed    order.AuditAction = "mail.failed"
	AuditMailFailing   order.AuditAction = "mail.failing"
)

// audit returns an entry of the audit log about the endpoint.
func (e Endpoint) audit(action order.AuditAction, at time.Time, caller order.Caller, detail string) order.AuditEntry {
	return order.AuditEntry{
		MerchantID: e.MerchantID, At: at, Action: action, By: caller, SubjectID: e.ID, Detail: detail,
	}
}

// number returns a number for order.AuditDetail.
func number(n int64) string { return strconv.FormatInt(n, 10) }
