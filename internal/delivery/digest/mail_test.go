package digest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/deliverytest"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// mailbox is a Mailer that keeps the e-mails, and the MailTexts of these tests.
type mailbox struct {
	mu     sync.Mutex
	mails  []digest.Mail
	result delivery.Result // of each e-mail; only those without an error arrive
	spared string          // an address whose e-mails arrive whatever result says
	took   time.Duration   // how long the mail server takes
	tried  []string        // ids of all e-mails
}

// Send implements digest.Mailer.
func (b *mailbox) Send(ctx context.Context, m digest.Mail) delivery.Result {
	b.mu.Lock()
	took := b.took
	b.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return delivery.Result{Error: delivery.ErrorTimeout}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried = append(b.tried, m.ID)
	if b.result.Error == "" || m.To == b.spared {
		b.mails = append(b.mails, m)
		return delivery.Result{}
	}
	return b.result
}

// Digest implements digest.MailTexts.
func (*mailbox) Digest(to digest.Address, d digest.Digest) digest.Mail {
	references := func(orders []order.Order) string {
		var all []string
		for _, o := range orders {
			all = append(all, o.Reference)
		}
		return strings.Join(all, " ")
	}
	return digest.Mail{To: to.Email, Body: "new " + references(d.New) + ", near " + references(d.Near)}
}

// Confirmation implements digest.MailTexts.
func (*mailbox) Confirmation(to digest.Address, merchant, secret string) digest.Mail {
	return digest.Mail{To: to.Email, Subject: merchant, Body: secret}
}

// answer sets the result of further e-mails.
func (b *mailbox) answer(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.result.Error = kind
}

// take returns the e-mails since the last call.
func (b *mailbox) take() (mails []digest.Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mails, b.mails = b.mails, nil
	return mails
}

// expect checks the bodies of the e-mails since the last call.
func (w *world) expect(what string, want ...string) []digest.Mail {
	w.Helper()
	mails := w.box.take()
	var got []string
	for _, m := range mails {
		got = append(got, m.Body)
	}
	testenv.Equal(w, what, want, got)
	return mails
}

// world is a database with the merchant 1, whose address has the id 1.
type world struct {
	*deliverytest.World
	box   *mailbox
	mails *digest.Service
}

// openWorld opens a world whose address is not confirmed, and returns the secret of its link.
func openWorld(t *testing.T) (w *world, secret string) {
	t.Helper()
	w = &world{World: deliverytest.Open(t, ""), box: new(mailbox)}
	w.mails = digest.NewService(digest.Options{Store: w.DB, Mailer: w.box, Texts: w.box, Now: time.Now, Log: slog.New(slog.DiscardHandler), Changed: func(int64) {}})
	w.Senders[digest.Kind] = w.mails
	w.AddMerchants(1)
	a := testenv.Of(w.add(1, "a@example.com", order.OrderCreated, order.DeadlineNear)).Must(t)
	mails := w.box.take()
	if a.Key != mailKey || len(mails) != 1 || mails[0].To != "a@example.com" || mails[0].Subject != "Shop" {
		t.Fatalf("%+v, %+v", a, mails)
	}
	return w, mails[0].Body
}

// openConfirmed is openWorld with a confirmed address.
func openConfirmed(t *testing.T) *world {
	t.Helper()
	w, secret := openWorld(t)
	testenv.NoError(t, w.confirm(mailKey, secret))
	return w
}

// run starts a worker with the pauses of the service.
func (w *world) run() { w.Run(func(o *delivery.Options) { o.Poll, o.Wait = 10*time.Second, nil }) }

// add adds an address of a merchant that gets events of some types.
func (w *world) add(merchantID int64, email string, types ...order.EventType) (digest.Address, error) {
	return w.mails.Add(w.Context(), order.CommandFor(merchantID), digest.Address{
		Cursor: delivery.Cursor{Key: delivery.Key{MerchantID: merchantID}, Types: delivery.NewTypes(types...)}, Email: email, Language: "el", Every: time.Hour,
	}, "Shop", order.Options[digest.Address]{})
}

func (w *world) confirm(key delivery.Key, secret string) error {
	_, err := w.mails.Confirm(w.Context(), order.Caller{}, key, secret)
	return err
}

// renew sends another link, which must end with an error or nil.
func (w *world) renew(want error) {
	w.Helper()
	if _, err := w.mails.RenewLink(w.Context(), order.CommandFor(1), mailKey, "Shop", order.Options[digest.Address]{}); !errors.Is(err, want) {
		w.Fatalf("another link: %v, want %v", err, want)
	}
}

// address returns the address.
func (w *world) address() digest.Address {
	w.Helper()
	addresses := testenv.Of(w.mails.List(w.Context(), 1)).Must(w)
	testenv.Equal(w, "addresses", 1, len(addresses))
	return addresses[0]
}

var mailKey = delivery.Key{MerchantID: 1, ID: 1, Kind: digest.Kind}

// actions returns the newest actions in the audit log of the merchant, which never has the
// address.
func (w *world) actions(limit int) string {
	w.Helper()
	page := testenv.Of(w.Audit.Page(w.Context(), order.AuditQuery{MerchantID: new(int64(1)), Limit: limit})).Must(w)
	var actions []string
	for _, entry := range page.Entries {
		actions = append(actions, string(entry.Action))
		testenv.Lacks(w, "entry in the audit log", fmt.Sprint(entry), "example.com")
	}
	return strings.Join(actions, " ")
}

// TestMailLinks checks the links in e-mails: each works once, for its address, and until it
// expires.
func TestMailLinks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, secret := openWorld(t)
		confirm := func(key delivery.Key, secret string, want error) {
			t.Helper()
			testenv.Equal(t, fmt.Sprintf("confirm %+v", key), want, w.confirm(key, secret))
		}
		confirm(mailKey, "", digest.ErrLink)
		confirm(mailKey, "x", digest.ErrLink)
		confirm(delivery.Key{MerchantID: 2, ID: 1, Kind: digest.Kind}, secret, delivery.ErrNotFound)
		w.renew(digest.ErrTooSoon)
		time.Sleep(digest.LinkLifetime)
		confirm(mailKey, secret, digest.ErrLink)
		w.box.answer(delivery.ErrorConnection)
		w.renew(digest.ErrNotSent)
		w.box.answer("")
		time.Sleep(time.Minute)
		w.renew(nil)
		next := w.box.take()[0].Body
		confirm(mailKey, secret, digest.ErrLink)
		confirm(mailKey, next, nil)
		confirm(mailKey, next, digest.ErrLink)
		w.renew(digest.ErrTooSoon) // it is confirmed
		a := w.address()
		for _, row := range []struct {
			key    delivery.Key
			secret delivery.Secret
			want   error
		}{
			{delivery.Key{MerchantID: 2, ID: 1, Kind: digest.Kind}, a.Secret, delivery.ErrNotFound},
			{delivery.Key{MerchantID: 1, ID: 1}, a.Secret, delivery.ErrNotFound},
			{mailKey, delivery.Secret(next), digest.ErrLink},
			{mailKey, a.Secret, nil},
		} {
			testenv.Equal(t, fmt.Sprintf("end %+v", row), row.want, w.mails.End(t.Context(), order.Caller{}, row.key, string(row.secret)))
		}
		testenv.Equal(t, "addresses after the end", 0, len(testenv.Of(w.mails.List(t.Context(), 1)).Must(t)))
		testenv.Equal(t, "audit", "mail.ended mail.confirmed mail.link mail.not_sent mail.link mail.added merchant.added", w.actions(100))

		// Neither removing an address and adding it again nor other addresses lead past the
		// limits.
		add := func(email string) error {
			a, err := w.add(1, email, order.OrderCreated)
			if err == nil {
				_, err = w.mails.Remove(t.Context(), order.CommandFor(1), a.Key, order.Options[digest.Address]{})
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
		var err error
		n := 0
		for ; err == nil; n++ {
			err = add(fmt.Sprint(n, "@example.com"))
		}
		if !errors.Is(err, digest.ErrTooManyLinks) || n != 30-3+1 {
			t.Errorf("after %d addresses: %v", n, err)
		}
	})
}

// TestLinksNotTaken checks that links which no mail server has taken do not use up those of an
// address, but cannot be tried without end.
func TestLinksNotTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := openWorld(t)
		renew := func(want error) {
			t.Helper()
			time.Sleep(time.Minute)
			w.renew(want)
		}
		w.box.answer(delivery.ErrorServer)
		for range 5 { // greylisted
			renew(digest.ErrNotSent)
		}
		w.box.answer("")
		renew(nil)
		w.box.took = time.Minute // the server takes it after the response
		renew(nil)
		renew(digest.ErrTooManyLinks)
		synctest.Wait()
		testenv.Equal(t, "e-mails", 2, len(w.box.take()))
		time.Sleep(24 * time.Hour)
		w.box.answer(delivery.ErrorServer)
		w.box.took = 0
		for range 30 {
			renew(digest.ErrNotSent)
		}
		renew(digest.ErrTooManyLinks)
	})
}

// TestAddressProblem checks which texts may be addresses.
func TestAddressProblem(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a@example.com", "a.b+c_d@shop.example.gr"} {
		if digest.AddressProblem(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", "a", "a@", "@example.com", "a@b", "a b@example.com", `"a b"@example.com`, "Shop <a@example.com>", "<a@example.com>", "a@example.com, b@example.com", "a@example.com (x)",
		"a@example.com\r\nBcc: b@example.com", "a@example.com\x00", "a@[127.0.0.1]", "root@localhost", "ά@example.com", "a@παράδειγμα.gr", "|cmd @example.com", strings.Repeat("a", 250) + "@example.com", "a@@example.com", "a@exa mple.com",
	} {
		if !digest.AddressProblem(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestClockWasAhead sends e-mails after one of a clock that was a year ahead.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openConfirmed(t)
		ahead := time.Now().Add(365 * 24 * time.Hour)
		lease := testenv.Of(w.DB.BorrowEndpoint(t.Context(), mailKey, time.Now(), ahead)).Must(t)
		p := delivery.Progress{Cursor: lease.Cursor, LeaseUntil: ahead}
		p.SentAt, p.NextAttempt = ahead, ahead.Add(time.Hour)
		testenv.NoError(t, w.DB.SaveProgress(t.Context(), lease, p))
		w.run()
		w.AddEvents(1, "A", 1)
		time.Sleep(2 * time.Minute)
		w.expect("the first orders", "new A-1-0, near ")
		w.AddEvents(1, "B", 1)
		time.Sleep(30 * time.Minute)
		w.expect("too soon")
		time.Sleep(31 * time.Minute)
		w.expect("the next digest", "new B-1-0, near ")
	})
}

// TestMails runs two workers: each order is in one e-mail, digests keep their distance,
// warnings do not wait, and nothing is lost while the mail server is down.
func TestMails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, secret := openWorld(t)
		w.run()
		w.run()
		w.AddEvents(1, "A", 3)
		time.Sleep(2 * time.Hour)
		w.expect("not confirmed")
		testenv.NoError(t, w.confirm(mailKey, secret))
		w.AddEvents(1, "B", 2)
		time.Sleep(2 * time.Minute) // more than the polls that are left out
		first := w.expect("the first orders", "new B-1-0 B-1-1, near ")
		w.AddEvents(1, "C", 2)
		time.Sleep(30 * time.Minute)
		w.AddEvents(1, "D", 2)
		_, err := w.Orders.ChangeOrder(t.Context(), order.Command(), 1, order.ByReference("D-1-0"), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})
		testenv.NoError(t, err)
		w.expect("too soon")
		time.Sleep(31 * time.Minute)
		second := w.expect("the next digest", "new C-1-0 C-1-1 D-1-1, near ")
		if first[0].ID == second[0].ID || !strings.HasPrefix(first[0].ID, "mail_1_3_5_") || time.Since(second[0].At) > 3*time.Minute {
			t.Errorf("ids %s and %s, sent at %v", first[0].ID, second[0].ID, second[0].At)
		}

		_, err = w.Orders.Import(t.Context(), order.Command(), []order.Incoming{{Order: order.Order{
			MerchantID: 1, Reference: "E", State: order.Registered, Currency: "EUR", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(3 * time.Hour),
		}}})
		testenv.NoError(t, err)
		testenv.Of(w.Orders.WarnOfDeadlines(t.Context(), 4*time.Hour)).Must(t)
		time.Sleep(7 * time.Minute)
		w.expect("a warning", "new , near E")

		w.box.answer(delivery.ErrorConnection)
		w.AddEvents(1, "F", 1)
		time.Sleep(20 * time.Hour)
		w.box.answer("")
		time.Sleep(15 * time.Minute)
		w.expect("the mail server is up again", "new F-1-0, near ")
		if a := w.address(); a.State != delivery.Active || a.Failures != 0 {
			t.Errorf("%+v", a)
		}

		testenv.Of(w.Merchants.Suspend(t.Context(), order.Command(), 1, "fraud", order.Options[order.Merchant]{})).Must(t)
		w.AddEvents(1, "G", 1)
		time.Sleep(2 * time.Hour)
		w.expect("the merchant is suspended")
		testenv.Of(w.Merchants.Resume(t.Context(), order.Command(), 1, order.Options[order.Merchant]{})).Must(t)
		time.Sleep(3 * time.Minute)
		w.expect("the merchant is resumed", "new G-1-0, near ")
	})
}

// TestMailsRefused refuses the e-mails to one address, which is given up after three days, and
// then to all: the fault is not theirs, and all get e-mails when it is over.
func TestMailsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		others  bool // get their e-mails
		want    delivery.State
		actions string // the newest
	}{"one address": {true, delivery.Failed, "mail.failed mail.failing"}, "all": {false, delivery.Active, "order.created order.created"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := openConfirmed(t)
				w.run()
				w.AddEvents(1, "first", 1)
				time.Sleep(2 * time.Hour)
				w.expect("before", "new first-1-0, near ")
				if row.others {
					testenv.NoError(t, w.Merchants.Add(t.Context(), order.Command(), 2, "Other", order.Options[order.Merchant]{}))
					a := testenv.Of(w.add(2, "b@example.com", order.OrderCreated)).Must(t)
					testenv.NoError(t, w.confirm(a.Key, w.box.take()[0].Body))
				}
				w.box.spared = "b@example.com"
				w.box.answer(delivery.ErrorRefused)
				w.AddEvents(1, "A", 1)
				for day := range 4 {
					w.AddEvents(2, fmt.Sprint("B", day), 1)
					time.Sleep(24 * time.Hour)
				}
				testenv.Equal(t, "state and actions", fmt.Sprint(row.want, row.actions), fmt.Sprint(w.address().State, w.actions(2)))
				w.box.take()
				w.box.answer("")
				time.Sleep(15 * time.Minute)
				if row.want == delivery.Active {
					w.expect("after the weekend", "new A-1-0, near ")
				}
				feed, err := w.Orders.Events(t.Context(), 1, order.FeedQuery{Limit: order.MaxFeedLimit})
				testenv.Equal(t, fmt.Sprint("events, error ", err), 2, len(feed.Events))
			})
		})
	}
}

// forgetful is a Store that loses the end of e-mails that were sent, as a server does that
// is killed then.
type forgetful struct {
	delivery.Store
	times int
}

func (s *forgetful) SaveProgress(ctx context.Context, lease delivery.Lease, p delivery.Progress) error {
	if !p.SentAt.Equal(lease.SentAt) && s.times > 0 {
		s.times--
		return order.ErrUnavailable
	}
	return s.Store.SaveProgress(ctx, lease, p)
}

// TestDigestSentAgain checks that a digest of which nobody knows whether it has arrived is
// sent again as it was: mail programs show one of two e-mails with the same Message-ID. What
// came in since is in the next one.
func TestDigestSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openConfirmed(t)
		w.Run(func(o *delivery.Options) { o.Store, o.Poll, o.Wait = &forgetful{o.Store, 1}, 10*time.Second, nil })
		w.AddEvents(1, "0", 1)
		time.Sleep(time.Minute)
		if mails := w.expect("the end is lost", "new 0-1-0, near ", "new 0-1-0, near "); mails[0].ID != mails[1].ID {
			t.Errorf("ids %s and %s", mails[0].ID, mails[1].ID)
		}
		w.box.answer(delivery.ErrorTimeout)
		w.box.tried = nil
		time.Sleep(time.Hour)
		w.AddEvents(1, "A", 1)
		time.Sleep(time.Minute)
		w.AddEvents(1, "B", 1)
		time.Sleep(time.Hour)
		w.box.answer("")
		time.Sleep(15 * time.Minute)
		first := w.expect("again", "new A-1-0, near ")
		time.Sleep(time.Hour)
		second := w.expect("the next", "new B-1-0, near ")
		w.box.mu.Lock()
		defer w.box.mu.Unlock()
		if ids := slices.Compact(w.box.tried); len(ids) != 2 || ids[0] != first[0].ID || ids[1] != second[0].ID {
			t.Errorf("ids %q", ids)
		}
	})
}

// TestSlowMailServer takes nine minutes for each e-mail: the address gets it once, also if
// several workers run.
func TestSlowMailServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openConfirmed(t)
		w.box.took = 9 * time.Minute
		w.run()
		w.run()
		w.AddEvents(1, "A", 1)
		time.Sleep(30 * time.Minute)
		w.expect("e-mails", "new A-1-0, near ")
	})
}
