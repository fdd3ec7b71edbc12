package console

import (
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// notices are what the address of a page may say was done: keys of messages by the page and the
// value of its parameter done.
var notices = map[string]string{
	"order accepted": "done.accepted", "order rejected": "done.rejected", "order uploaded": "done.uploaded", "order withdrawn": "done.withdrawn", "order saved": "done.saved",
	"operatororder yes": "transition.done", "operatororder corrected": "correct.done",
	"merchant added": "merchants.added", "merchant renamed": "merchants.renamed", "merchant zone": "store.saved", "merchant limited": "merchants.limited",
	"merchant suspended": "merchants.nowsuspended", "merchant resumed": "merchants.resumed",
	"store saved": "store.saved", "tokens revoked": "tokens.nowrevoked", "webhooks removed": "webhooks.removed",
	"people ended": "people.ended", "people removed": "passkey.removed", "passkeys made": "passkey.made", "passkeys removed": "passkey.removed",
	"mail added": "mail.done.added", "mail link": "mail.done.link", "mail removed": "mail.done.removed",
}

// noticeOf returns the key of the message for what the address of a page says was done; empty:
// nothing.
func noticeOf(r *web.Request, page string) string {
	return notices[page+" "+r.URL.Query().Get("done")]
}

// orderNotice is noticeOf for what was done to an order, with its reference; empty: it is the one
// that the page is about.
func orderNotice(r *web.Request) (notice, was string) {
	if was = r.URL.Query().Get("was"); !order.ValidReference(was) {
		was = ""
	}
	return noticeOf(r, "order"), was
}
