package webhook

import (
	"context"
	"log/slog"
	"maps"
	"sync"
)

// mailSent is the result of an e-mail without an error.
const mailSent = "sent"

// MailErrors are the values of Result.Error for an e-mail, except for the empty one.
var MailErrors = []string{ErrorRefused, ErrorServer, ErrorTimeout, ErrorResolve, ErrorTLS, ErrorConnection}

// CountedMailer sends e-mails through another Mailer, counts them, and logs why one was not
// sent. The nil CountedMailer has sent none.
type CountedMailer struct {
	mailer Mailer
	log    *slog.Logger

	mu     sync.Mutex
	counts map[string]uint64
}

// NewCountedMailer returns a CountedMailer.
func NewCountedMailer(mailer Mailer, log *slog.Logger) *CountedMailer {
	return &CountedMailer{mailer: mailer, log: log, counts: make(map[string]uint64)}
}

// Send implements Mailer.
func (c *CountedMailer) Send(ctx context.Context, m Mail) Result {
	result, name := c.mailer.Send(ctx, m), mailSent
	if result.Error != "" {
		if ctx.Err() != nil {
			return result // the caller has ended it: nothing is known
		}
		name = result.Error
		c.log.Warn("e-mail not sent", "merchant", m.Key.MerchantID, "address", m.Key.ID, "message", m.ID, "error", result.Error, "answer", result.Response)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[name]++
	return result
}

// Counts returns the number of e-mails by result: sent, and each of MailErrors.
func (c *CountedMailer) Counts() map[string]uint64 {
	counts := map[string]uint64{mailSent: 0}
	for _, name := range MailErrors {
		counts[name] = 0
	}
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.Copy(counts, c.counts)
	}
	return counts
}
