package client_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// TestTokensAgainstService creates, rotates and revokes tokens of a merchant.
// Proves decision 1 (a merchant's own tokens).
func TestTokensAgainstService(t *testing.T) {
	t.Parallel()
	server, plain := start(t, 0)
	_, err := plain.Tokens(t.Context())
	wantKind(t, err, client.ErrForbidden)
	c := connect(t, server.BaseURL, server.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read,tokens"))
	made, err := c.CreateToken(t.Context(), client.TokenRequest{Scopes: []string{"orders:read"}, Lifetime: time.Hour, Label: "Αποθήκη"})
	if err != nil || made.Token.Label != "Αποθήκη" || made.Token.ExpiresAt.Sub(made.Token.CreatedAt) != time.Hour || !strings.HasPrefix(made.Text, made.Token.Hint) {
		t.Fatalf("made %+v, error %v", made.Token, err)
	}
	_, err = c.CreateToken(t.Context(), client.TokenRequest{Scopes: []string{"orders:write"}})
	wantKind(t, err, client.ErrForbidden)
	tokens, err := c.Tokens(t.Context())
	own := slices.IndexFunc(tokens, func(t client.Token) bool { return t.Current })
	if err != nil || own < 0 || !slices.Equal(tokens[own].Scopes, []string{"orders:read", "tokens"}) || tokens[len(tokens)-1].ID != made.Token.ID {
		t.Fatalf("tokens %+v, error %v", tokens, err)
	}
	// The client replaces its own token.
	rotated, err := c.RotateToken(t.Context(), tokens[own].ID, time.Minute)
	if err != nil || rotated.Replaced.ID != tokens[own].ID || rotated.Replaced.ExpiresAt.IsZero() || rotated.Token.CreatedBy != tokens[own].ID {
		t.Fatalf("rotated %+v, error %v", rotated.Token, err)
	}
	c = connect(t, server.BaseURL, rotated.Text)
	for range 2 {
		testenv.NoError(t, c.RevokeToken(t.Context(), made.Token.ID))
	}
	_, err = connect(t, server.BaseURL, made.Text).Order(t.Context(), "SF-1")
	wantKind(t, err, client.ErrUnauthorized)
	wantKind(t, c.RevokeToken(t.Context(), 9999), client.ErrTokenNotFound)
	child := testenv.Of(c.CreateToken(t.Context(), client.TokenRequest{Scopes: []string{"orders:read"}})).Must(t)
	revoked, err := c.RevokeTokenAndChildren(t.Context(), rotated.Token.ID)
	if want := []int64{rotated.Token.ID, child.Token.ID}; err != nil || !slices.Equal(revoked, want) {
		t.Errorf("revoked %v, error %v, want %v", revoked, err, want)
	}
}
