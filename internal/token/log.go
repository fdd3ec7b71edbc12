package token

import (
	"context"
	"log/slog"
)

// LogCreated logs that a token was created. by says who did it.
func LogCreated(log *slog.Logger, t Token, by ...slog.Attr) {
	attrs := []slog.Attr{slog.Int64("created", t.ID)}
	if t.Operator() {
		attrs = append(attrs, slog.Bool("operator", true))
	} else {
		attrs = append(attrs, slog.Int64("merchant", t.MerchantID))
	}
	attrs = append(attrs, slog.String("scopes", t.Scopes.String()))
	log.LogAttrs(context.Background(), slog.LevelInfo, "token created", append(attrs, by...)...)
}

// LogRevoked logs that a token was revoked. by says who did it.
func LogRevoked(log *slog.Logger, id int64, by ...slog.Attr) {
	attrs := append([]slog.Attr{slog.Int64("revoked", id)}, by...)
	log.LogAttrs(context.Background(), slog.LevelInfo, "token revoked", attrs...)
}
