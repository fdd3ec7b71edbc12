package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// mailbox is a Mailer that keeps the e-mails, and the MailTexts of these tests.
type mailbox struct {
	mu     sync.Mutex
	mails  []webhook.Mail
	result webhook.Result // of each e-mail; only those without an error arrive
	spared string         // an address whose e-mails arrive whatever result says
	took   time.Duration  // how long the mail server takes
	tried  []string       // ids of all e-mails
}

// Send implements webhook.Mailer.
func (b *mailbox) Send(ctx context.Context, m webhook.Mail) webhook.Result {
	b.mu.Lock()
	took := b.took
	b.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return webhook.Result{Error: webhook.ErrorTimeout}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried = append(b.tried, m.ID)
	if b.result.Error == "" || m.To == b.spared {
		b.mails = append(b.mails, m)
		return webhook.Result{}
	}
	return b.result
}

// Digest implements webhook.MailTexts.
func (*mailbox) Digest(to webhook.Endpoint, d webhook.Digest) webhook.Mail {
	references := func(orders []order.Order) string {
		var all []string
		for _, o := range orders {
			all = append(all, o.Reference)
		}
		return strings.Join(all, " ")
	}
	return webhook.Mail{To: to.URL, Body: "new " + references(d.New) + ", near " + references(d.Near)}
}

// Confirmation implements webhook.MailTexts.
func (*mailbox) Confirmation(to webhook.Endpoint, merchant, secret string) webhook.Mail {
	return webhook.Mail{To: to.URL, Subject: merchant, Body: secret}
}

// answer sets the result of further e-mails.
func (b *mailbox) answer(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.result.Error = kind
}

// expect checks the bodies of the e-mails since the last call, each to an address.
func (b *mailbox) expect(w *world, what string, want ...string) (mails []webhook.Mail) {
	w.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var got []string
	for _, m := range b.mails {
		got = append(got, m.Body)
	}
	testenv.Equal(w, what, want, got)
	mails, b.mails = b.mails, nil
	return mails
}

// openMailWorld is openWorld with a merchant, whose address has the id 1 and is not
// confirmed.
func openMailWorld(t *testing.T) (w *world, box *mailbox, hooks *webhook.Service, secret string) {
	w, box = openWorld(t, newReceiver()), new(mailbox)
	hooks = webhook.NewService(webhook.ServiceOptions{Store: w.db, Mailer: box, Texts: box, Now: time.Now})
	testenv.NoError(t, w.merchants.Add(t.Context(), order.Command(), 1, "Shop", order.Options[order.Merchant]{}))
	e, err := hooks.AddAddress(t.Context(), order.CommandFor(1), webhook.AddressAddition{
		MerchantID: 1, Merchant: "Shop", Address: "a@example.com", Language: "el", Types: webhook.NewTypes(order.OrderCreated, order.DeadlineNear), Every: time.Hour,
	}, order.Options[webhook.Endpoint]{})
	if err != nil || e.Key != mailKey || len(box.mails) != 1 || box.mails[0].To != "a@example.com" || box.mails[0].Subject != "Shop" {
		t.Fatalf("%+v, %v, %+v", e, err, box.mails)
	}
	secret = box.mails[0].Body
	box.mails = nil
	return w, box, hooks, secret
}

var mailKey = webhook.Key{MerchantID: 1, ID: 1, Mail: true}

// TestMailLinks checks the links in e-mails: each works once, for its address, and until it
// expires.
func TestMailLinks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, box, hooks, secret := openMailWorld(t)
		confirm := func(key webhook.Key, secret string, want error) {
			t.Helper()
			if _, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, key, secret); !errors.Is(err, want) {
				t.Errorf("confirm %+v: %v, want %v", key, err, want)
			}
		}
		renew := func(want error) {
			t.Helper()
			if _, err := hooks.RenewLink(t.Context(), order.CommandFor(1), mailKey, "Shop", order.Options[webhook.Endpoint]{}); !errors.Is(err, want) {
				t.Errorf("another link: %v, want %v", err, want)
			}
		}
		confirm(mailKey, "", webhook.ErrLink)
		confirm(mailKey, "x", webhook.ErrLink)
		confirm(webhook.Key{MerchantID: 2, ID: 1, Mail: true}, secret, webhook.ErrNotFound)
		renew(webhook.ErrTooSoon)
		time.Sleep(webhook.LinkLifetime)
		confirm(mailKey, secret, webhook.ErrLink)
		box.answer(webhook.ErrorConnection)
		renew(webhook.ErrNotSent)
		box.answer("")
		time.Sleep(time.Minute)
		renew(nil)
		next := box.mails[0].Body
		confirm(mailKey, secret, webhook.ErrLink)
		confirm(mailKey, next, nil)
		confirm(mailKey, next, webhook.ErrLink)
		renew(webhook.ErrTooSoon) // it is confirmed
		e, err := hooks.Get(t.Context(), mailKey)
		testenv.NoError(t, err)
		for key, want := range map[webhook.Key]error{{MerchantID: 2, ID: 1, Mail: true}: webhook.ErrNotFound, {MerchantID: 1, ID: 1}: webhook.ErrNotFound, mailKey: nil} {
			if err := hooks.EndMails(t.Context(), order.Caller{}, key, next); err == nil {
				t.Errorf("ended with the secret of the other link: %+v", key)
			}
			if err := hooks.EndMails(t.Context(), order.Caller{}, key, string(e.Secret)); !errors.Is(err, want) {
				t.Errorf("end %+v: %v, want %v", key, err, want)
			}
			if want == nil {
				break
			}
		}
		if addresses, err := hooks.Addresses(t.Context(), 1); err != nil || len(addresses) != 0 {
			t.Errorf("after the end: %+v, %v", addresses, err)
		}
		var actions []string
		page, err := order.NewAuditLog(w.db).Page(t.Context(), order.AuditQuery{MerchantID: new(int64(1)), Limit: 100})
		for _, entry := range page.Entries {
			actions = append(actions, string(entry.Action))
			if strings.Contains(fmt.Sprint(entry), "example.com") {
				t.Errorf("the audit log has the address: %+v", entry)
			}
		}
		testenv.Equal(t, fmt.Sprint("audit ", err), "mail.ended mail.confirmed mail.link mail.not_sent mail.link mail.added merchant.added", strings.Join(actions, " "))

		// Neither removing an address and adding it again nor other addresses lead past the
		// limits.
		add := func(address string) error {
			e, err := hooks.AddAddress(t.Context(), order.CommandFor(1), webhook.AddressAddition{MerchantID: 1, Address: address, Types: 1, Every: time.Hour}, order.Options[webhook.Endpoint]{})
			if err == nil {
				_, err = hooks.Remove(t.Context(), order.CommandFor(1), e.Key, order.Options[webhook.Endpoint]{})
			}
			return err
		}
		for _, c := range []struct {
			wait  time.Duration
			links int
		}{{0, 2}, {24 * time.Hour, 3}} {
			time.Sleep(c.wait)
			sent := 0
			for ; add("A@example.com") == nil; sent++ {
			}
			testenv.Equal(t, "links to the address", c.links, sent)
		}
		n := 0
		for ; err == nil; n++ {
			err = add(fmt.Sprint(n, "@example.com"))
		}
		if !errors.Is(err, webhook.ErrTooManyLinks) || n != 30-3+1 {
			t.Errorf("after %d addresses: %v", n, err)
		}
	})
}

// TestMails runs two senders: each order is in one e-mail, digests keep their distance,
// warnings do not wait, and nothing is lost while the mail server is down.
func TestMails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, box, hooks, secret := openMailWorld(t)
		for range 2 {
			w.run(newReceiver(), func(o *webhook.Options) { o.Mailer, o.Texts, o.Poll, o.Wait = box, box, 10*time.Second, nil })
		}
		w.addEvents(1, "A", 3)
		time.Sleep(2 * time.Hour)
		box.expect(w, "not confirmed")
		_, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, mailKey, secret)
		testenv.NoError(t, err)
		w.addEvents(1, "B", 2)
		time.Sleep(2 * time.Minute) // more than the polls that are left out
		first := box.expect(w, "the first orders", "new B-1-0 B-1-1, near ")
		w.addEvents(1, "C", 2)
		time.Sleep(30 * time.Minute)
		w.addEvents(1, "D", 2)
		_, err = w.orders.ChangeOrder(t.Context(), order.Command(), 1, order.ByReference("D-1-0"), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})
		testenv.NoError(t, err)
		box.expect(w, "too soon")
		time.Sleep(31 * time.Minute)
		second := box.expect(w, "the next digest", "new C-1-0 C-1-1 D-1-1, near ")
		if first[0].ID == second[0].ID || !strings.HasPrefix(first[0].ID, "mail_1_3_5_") || time.Since(second[0].At) > 3*time.Minute {
			t.Errorf("ids %s and %s, sent at %v", first[0].ID, second[0].ID, second[0].At)
		}

		_, err = w.orders.Import(t.Context(), order.Command(), []order.Incoming{{Order: order.Order{
			MerchantID: 1, Reference: "E", State: order.Registered, Currency: "EUR", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(3 * time.Hour),
		}}})
		testenv.NoError(t, err)
		_, err = w.orders.WarnOfDeadlines(t.Context(), 4*time.Hour)
		testenv.NoError(t, err)
		time.Sleep(7 * time.Minute)
		box.expect(w, "a warning", "new , near E")

		box.answer(webhook.ErrorConnection)
		w.addEvents(1, "F", 1)
		time.Sleep(20 * time.Hour)
		box.answer("")
		time.Sleep(15 * time.Minute)
		box.expect(w, "the mail server is up again", "new F-1-0, near ")
		if e, err := hooks.Get(t.Context(), mailKey); err != nil || e.State != webhook.Active || e.Failures != 0 {
			t.Errorf("%+v, %v", e, err)
		}

		_, err = w.merchants.Suspend(t.Context(), order.Command(), 1, "fraud", order.Options[order.Merchant]{})
		testenv.NoError(t, err)
		w.addEvents(1, "G", 1)
		time.Sleep(2 * time.Hour)
		box.expect(w, "the merchant is suspended")
		_, err = w.merchants.Resume(t.Context(), order.Command(), 1, order.Options[order.Merchant]{})
		testenv.NoError(t, err)
		time.Sleep(3 * time.Minute)
		box.expect(w, "the merchant is resumed", "new G-1-0, near ")
	})
}

// forgetful is a Store that loses the end of e-mails that were sent, as a server does that
// is killed then.
type forgetful struct {
	webhook.Store
	times int
}

func (s *forgetful) SaveProgress(ctx context.Context, lease webhook.Lease, p webhook.Progress, d *webhook.Delivery) error {
	if !p.SentAt.Equal(lease.SentAt) && s.times > 0 {
		s.times--
		return order.ErrUnavailable
	}
	return s.Store.SaveProgress(ctx, lease, p, d)
}

// TestMailSentTwice checks that an e-mail that has to be sent again has the same id.
func TestMailSentTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, box, hooks, secret := openMailWorld(t)
		_, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, mailKey, secret)
		testenv.NoError(t, err)
		w.addEvents(1, "A", 1)
		w.run(newReceiver(), func(o *webhook.Options) {
			o.Store, o.Mailer, o.Texts = &forgetful{o.Store, 1}, box, box
		})
		time.Sleep(time.Minute)
		mails := box.expect(w, "e-mails", "new A-1-0, near ", "new A-1-0, near ")
		if mails[0].ID != mails[1].ID {
			t.Errorf("ids %s and %s", mails[0].ID, mails[1].ID)
		}
	})
}

// TestAddressProblem checks which texts may be addresses.
func TestAddressProblem(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a@example.com", "a.b+c_d@shop.example.gr"} {
		if webhook.AddressProblem(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", "a", "a@", "@example.com", "a@b", "a b@example.com", `"a b"@example.com`, "Shop <a@example.com>", "<a@example.com>", "a@example.com, b@example.com", "a@example.com (x)",
		"a@example.com\r\nBcc: b@example.com", "a@example.com\x00", "a@[127.0.0.1]", "root@localhost", "ά@example.com", "a@παράδειγμα.gr", "|cmd @example.com", strings.Repeat("a", 250) + "@example.com", "a@@example.com", "a@exa mple.com",
	} {
		if !webhook.AddressProblem(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestLinksNotTaken checks that links which no mail server has taken do not use up those of an
// address, but cannot be tried without end.
func TestLinksNotTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, box, hooks, _ := openMailWorld(t)
		renew := func(want error) {
			t.Helper()
			time.Sleep(time.Minute)
			if _, err := hooks.RenewLink(t.Context(), order.CommandFor(1), mailKey, "Shop", order.Options[webhook.Endpoint]{}); !errors.Is(err, want) {
				t.Fatalf("another link: %v, want %v", err, want)
			}
		}
		box.answer(webhook.ErrorServer)
		for range 5 { // greylisted
			renew(webhook.ErrNotSent)
		}
		box.answer("")
		renew(nil)
		box.took = time.Minute // the server takes it after the response
		renew(nil)
		renew(webhook.ErrTooManyLinks)
		synctest.Wait()
		if len(box.mails) != 2 {
			t.Errorf("e-mails: %+v", box.mails)
		}
		time.Sleep(24 * time.Hour)
		box.answer(webhook.ErrorServer)
		for range 30 {
			box.took = 0
			renew(webhook.ErrNotSent)
		}
		renew(webhook.ErrTooManyLinks)
	})
}

// TestMailsRefused refuses the e-mails to one address, which is given up after three days, and
// then to all: the fault is not theirs, and all get e-mails when it is over.
func TestMailsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		others bool // get their e-mails
		want   webhook.State
	}{"one address": {true, webhook.Failed}, "all": {false, webhook.Active}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, box, hooks, secret := openMailWorld(t)
				_, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, mailKey, secret)
				testenv.NoError(t, err)
				w.run(newReceiver(), func(o *webhook.Options) { o.Mailer, o.Texts, o.Poll, o.Wait = box, box, 10*time.Second, nil })
				w.addEvents(1, "first", 1)
				time.Sleep(2 * time.Hour)
				box.expect(w, "before", "new first-1-0, near ")
				if row.others {
					testenv.NoError(t, w.merchants.Add(t.Context(), order.Command(), 2, "Other", order.Options[order.Merchant]{}))
					e, err := hooks.AddAddress(t.Context(), order.CommandFor(2), webhook.AddressAddition{MerchantID: 2, Address: "b@example.com", Types: 1 << order.OrderCreated, Every: time.Hour}, order.Options[webhook.Endpoint]{})
					testenv.NoError(t, err)
					_, err = hooks.ConfirmAddress(t.Context(), order.Caller{}, e.Key, box.mails[0].Body)
					testenv.NoError(t, err)
				}
				box.mu.Lock()
				box.result.Error, box.mails, box.spared = webhook.ErrorRefused, nil, "b@example.com"
				box.mu.Unlock()
				w.addEvents(1, "A", 1)
				for day := range 4 {
					w.addEvents(2, fmt.Sprint("B", day), 1)
					time.Sleep(24 * time.Hour)
				}
				e, err := hooks.Get(t.Context(), mailKey)
				testenv.Equal(t, fmt.Sprint("state, error ", err), row.want, e.State)
				box.mu.Lock()
				box.result.Error, box.mails = "", nil
				box.mu.Unlock()
				time.Sleep(15 * time.Minute)
				if row.want == webhook.Active {
					box.expect(w, "after the weekend", "new A-1-0, near ")
				}
			})
		})
	}
}

// TestDigestSentAgain checks that a digest of which nobody knows whether it has arrived is
// sent again as it was: mail programs show one of two e-mails with the same Message-ID. What
// came in since is in the next one.
func TestDigestSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, box, hooks, secret := openMailWorld(t)
		_, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, mailKey, secret)
		testenv.NoError(t, err)
		box.answer(webhook.ErrorTimeout)
		w.run(newReceiver(), func(o *webhook.Options) { o.Mailer, o.Texts, o.Poll, o.Wait = box, box, 10*time.Second, nil })
		box.mu.Lock()
		box.tried = nil
		box.mu.Unlock()
		w.addEvents(1, "A", 1)
		time.Sleep(time.Minute)
		w.addEvents(1, "B", 1)
		time.Sleep(time.Hour)
		box.answer("")
		time.Sleep(15 * time.Minute)
		first := box.expect(w, "again", "new A-1-0, near ")
		time.Sleep(time.Hour)
		second := box.expect(w, "the next", "new B-1-0, near ")
		box.mu.Lock()
		defer box.mu.Unlock()
		if ids := slices.Compact(box.tried); len(ids) != 2 || ids[0] != first[0].ID || ids[1] != second[0].ID {
			t.Errorf("ids %q", ids)
		}
	})
}

// TestSlowMailServer takes nine minutes for each e-mail: the address gets it once, also if
// several senders run.
func TestSlowMailServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, box, hooks, secret := openMailWorld(t)
		_, err := hooks.ConfirmAddress(t.Context(), order.Caller{}, mailKey, secret)
		testenv.NoError(t, err)
		box.took = 9 * time.Minute
		for range 2 {
			w.run(newReceiver(), func(o *webhook.Options) { o.Mailer, o.Texts, o.Poll, o.Wait = box, box, 10*time.Second, nil })
		}
		w.addEvents(1, "A", 1)
		time.Sleep(30 * time.Minute)
		box.expect(w, "e-mails", "new A-1-0, near ")
	})
}
