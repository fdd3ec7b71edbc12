package token

import (
	"context"
	"log/slog"
)

// LogCreated logs that a token was created. by says who did it.
func LogCreated(log *slog.Logger, t Token, by ...slog.Attr) {
	attrs := []slog.Attr{slog.Int64("created", t.ID), whose(t.MerchantID), slog.String("scopes", t.Scopes.String())}
	log.LogAttrs(context.Background(), slog.LevelInfo, "token created", append(attrs, by...)...)
}

// whose says in the log whose a token or a link is. Merchant 0 is an operator.
func whose(merchantID int64) slog.Attr {
	if merchantID == 0 {
		return slog.Bool("operator", true)
	}
	return slog.Int64("merchant", merchantID)
}

// LogRevoked logs that a token was revoked. by says who did it.
func LogRevoked(log *slog.Logger, id int64, by ...slog.Attr) {
	attrs := append([]slog.Attr{slog.Int64("revoked", id)}, by...)
	log.LogAttrs(context.Background(), slog.LevelInfo, "token revoked", attrs...)
}
