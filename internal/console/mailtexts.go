package console

import (
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/order"
)

// MailTexts writes e-mails in the language of the recipient. It implements
// digest.MailTexts.
type MailTexts struct {
	BaseURL  string
	TimeZone *time.Location // of stores that have chosen none
}

// maxMailOrders is how many orders of a kind an e-mail names.
const maxMailOrders = 50

// Digest implements digest.MailTexts. Of a customer it says nothing but the reference of
// the order.
func (m MailTexts) Digest(to digest.Address, d digest.Digest) digest.Mail {
	l := language{code: to.Language, zone: zoneOr(d.Merchant.TimeZone, m.TimeZone)}
	var subjects []string
	var body strings.Builder
	for _, section := range []struct {
		key    string
		orders []order.Order
	}{{"mail.near", d.Near}, {"orders.new", d.New}} {
		if len(section.orders) == 0 {
			continue
		}
		heading := l.count(section.key, int64(len(section.orders)))
		subjects = append(subjects, heading)
		body.WriteString(heading + "\n\n")
		for _, o := range section.orders[:min(len(section.orders), maxMailOrders)] {
			body.WriteString(o.Reference)
			if !o.ExpiresAt.IsZero() {
				body.WriteString(", " + l.text("mail.until", l.clock(o.ExpiresAt)))
			}
			body.WriteString("\n")
		}
		if more := len(section.orders) - maxMailOrders; more > 0 {
			body.WriteString(l.count("ask.more", int64(more)) + "\n")
		}
		body.WriteString("\n")
	}
	end := m.link(mailEnd, to.Key, string(to.Secret))
	body.WriteString(l.text("mail.store", d.Merchant.Name, l.zone) + "\n" + l.text("mail.queue", m.BaseURL+Prefix+"/new") + "\n\n-- \n" + l.text("mail.end.link", end) + "\n")
	return digest.Mail{To: to.Email, Subject: strings.Join(subjects, ", "), Body: body.String(), End: end}
}

// Confirmation implements digest.MailTexts.
func (m MailTexts) Confirmation(to digest.Address, merchant, secret string) digest.Mail {
	l := language{code: to.Language}
	return digest.Mail{
		To: to.Email, Subject: l.text("mail.confirm.subject"),
		Body: l.text("mail.confirm.text", merchant) + "\n\n" + m.link(mailConfirm, to.Key, secret) + "\n\n" + l.text("mail.confirm.ignore") + "\n",
	}
}

// The paths of the links in e-mails.
const (
	mailConfirm = "/mail/confirm/"
	mailEnd     = "/mail/end/"
)

// link returns a link of an e-mail to an address.
func (m MailTexts) link(path string, key delivery.Key, secret string) string {
	return m.BaseURL + Prefix + path + strconv.FormatInt(key.MerchantID, 10) + "/" + strconv.FormatInt(key.ID, 10) + "/" + secret
}
