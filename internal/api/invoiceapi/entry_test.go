package invoiceapi

import (
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestNewEntries(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 15, 0, 999, time.FixedZone("EET", 2*60*60))
	for name, escaped := range map[string]string{
		"invoice.pdf":       "invoice.pdf",
		"my invoice.pdf":    "my%20invoice.pdf",
		"a?b#c%2F.png":      "a%3Fb%23c%252F.png",
		`"quoted';x.jpg`:    "%22quoted%27%3Bx.jpg",
		"Τιμολόγιο.PDF":     "%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF.PDF",
		"a+b&c=d,e@f:g.pdf": "a%2Bb&c=d%2Ce@f:g.pdf",
	} {
		got := NewEntries("https://x.example/s", "SF-1", []order.Invoice{{ID: 3, Name: name, CreatedAt: at}})
		want := []Entry{{ID: 3, URL: "https://x.example/s/invoices/SF-1/" + escaped, CreatedAt: "2026-11-20T09:15:00Z"}}
		testenv.Equal(t, fmt.Sprintf("%q", name), want, got)
	}
	if got := NewEntries("", "SF-1", nil); got == nil || len(got) != 0 {
		t.Errorf("no files: %#v, want an empty slice that is not nil", got)
	}
}
