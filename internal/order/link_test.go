package order_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// linked returns a service with one invoice file, a link to the file, and the clock of
// the service.
func linked(t testing.TB) (s order.Services, db *database, link string, clock *time.Time) {
	t.Helper()
	db, clock = newDatabase(t, sample(order.InProcessing)), new(noon)
	s = order.NewServices(db, newFolder(t), func() time.Time { return *clock }, slog.New(slog.DiscardHandler))
	testenv.Of(open(t, s, order.InvoiceLink{MerchantID: merchant, LegacyID: 1, InvoiceID: 1, ExpiresAt: noonUTC.Add(time.Hour)}.Sign(order.LinkKey{}))).WantError(t, "without a key", order.ErrLinkInvalid)
	_, invoice, err := upload(t, s.Orders, "a.pdf", "%PDF")
	testenv.NoError(t, err)
	made, err := s.Links.Add(t.Context(), order.Caller{Actor: order.ActorMerchant, MerchantID: merchant, TokenID: 7}, order.ByReference("SF-1"), invoice.ID, order.Options[order.WriteResult]{})
	if err != nil || !made.Link.ExpiresAt.Equal(noonUTC.Add(order.InvoiceLinkLifetime)) {
		t.Fatalf("%+v, error %v", made.Link, err)
	}
	return s, db, made.Link.Text, clock
}

// open returns the name of the file that a link opens.
func open(t testing.TB, s order.Services, link string) (string, error) {
	t.Helper()
	invoice, file, err := s.Links.Open(t.Context(), link, func(int64) error { return nil })
	if err != nil {
		return "", err
	}
	return invoice.Name, file.Close()
}

// Proves decision 6 (links).
func TestLink(t *testing.T) {
	t.Parallel()
	s, db, link, clock := linked(t)
	testenv.Of(open(t, s, link)).Want(t, "opened", "a.pdf")
	*clock = noonUTC.Add(order.InvoiceLinkLifetime - time.Nanosecond)
	testenv.Of(open(t, s, link)).Must(t)
	*clock = noonUTC.Add(order.InvoiceLinkLifetime)
	testenv.Of(open(t, s, link)).WantError(t, "at the expiry", order.ErrLinkExpired)
	*clock = noon
	testenv.Of(s.Orders.DeleteInvoice(t.Context(), order.CommandFor(merchant), order.ByReference("SF-1"), 1, order.Options[order.WriteResult]{})).Must(t)
	testenv.Of(open(t, s, link)).WantError(t, "of a deleted file", order.ErrInvoiceNotFound)
	testenv.Of(s.Links.Revoke(t.Context(), order.Command(), order.Options[time.Time]{})).Must(t)
	testenv.Of(open(t, s, link)).WantError(t, "of the key before", order.ErrLinkInvalid)
	for _, want := range []order.AuditEntry{
		{MerchantID: merchant, At: noonUTC, Action: "invoice.linked", By: order.Caller{Actor: order.ActorMerchant, TokenID: 7}, LegacyID: 1, Reference: "SF-1", SubjectID: 1},
		{At: noonUTC, Action: "links.revoked", By: order.Caller{Actor: order.ActorOperator}},
	} {
		testenv.Equal(t, "audit entries", []order.AuditEntry{want}, testenv.Of(s.Audit.Page(t.Context(), order.AuditQuery{Action: want.Action, Limit: 10})).Must(t).Entries, cmpopts.IgnoreFields(order.AuditEntry{}, "Seq", "Hash"))
	}
	db.fail = failing("LinkKey")
	testenv.Of(open(t, s, link)).WantError(t, "from a broken store", errBroken)
}

// TestChangedLink changes every character of a link, and its fields.
// Proves decision 6 (links).
func TestChangedLink(t *testing.T) {
	t.Parallel()
	s, _, link, _ := linked(t)
	var changed []string
	for i := range link {
		for _, c := range "01aA._-" {
			if byte(c) != link[i] {
				changed = append(changed, link[:i]+string(c)+link[i+1:])
			}
		}
		changed = append(changed, link[:i]+link[i+1:], link[:i])
	}
	numbers, signature, _ := strings.Cut(link, ".1795")
	changed = append(changed, link+"=", link+".", "."+link, "0"+link, "+"+link, " "+link, link+"\n", strings.ToUpper(link), "",
		"99999999999999999999"+strings.TrimPrefix(numbers, "355")+".1795"+signature, strings.Repeat(".", 4), strings.Repeat("1.", 1000))
	for _, text := range changed {
		testenv.Of(open(t, s, text)).WantError(t, text, order.ErrLinkInvalid)
	}
}

// FuzzLink checks that no text but the link opens the file.
func FuzzLink(f *testing.F) {
	s, _, link, _ := linked(f)
	f.Add(link)
	f.Add("355.1.1.1795169700.")
	f.Add("....")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := open(t, s, text); text != link && !errors.Is(err, order.ErrLinkInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
