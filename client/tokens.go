package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// TokenRequest describes a new token.
type TokenRequest struct {
	// Scopes are no others than those of the client's token. Empty: those of
	// orders:read, orders:write and invoices:write that it has.
	Scopes   []string      `json:"scopes,omitempty"`
	Lifetime time.Duration `json:"-"` // 0: as long as the operator allows
	Label    string        `json:"label,omitempty"`
}

// NewToken is a token that was created.
type NewToken struct {
	// Text is the token itself, which cannot be read again. It is empty in the response
	// to a repetition of the request: revoke the token then.
	Text     string `json:"text"`
	Token    Token  `json:"token"`
	Replaced Token  `json:"replaced"` // of a rotation
}

// Tokens returns all tokens of the merchant, by id, also those that have expired or are
// revoked. It needs the scope tokens, as all calls for tokens do.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	var all []Token
	for after := int64(0); ; {
		query := url.Values{"after": {text(after)}, "limit": {"1000"}}
		call := &call{op: "list tokens", method: http.MethodGet, url: c.address(query, "tokens")}
		page, err := fetch(ctx, c, call, decodeTokens)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tokens...)
		if page.Next == 0 {
			return all, nil
		}
		after = page.Next
	}
}

// CurrentToken returns the client's own token. It needs no scope.
func (c *Client) CurrentToken(ctx context.Context) (Token, error) {
	call := &call{op: "read the token of the client", method: http.MethodGet, url: c.address(nil, "tokens", "current")}
	return fetch(ctx, c, call, decodeToken)
}

// CreateToken creates a token of the merchant.
func (c *Client) CreateToken(ctx context.Context, request TokenRequest, options ...WriteOption) (NewToken, error) {
	body := struct {
		TokenRequest
		Expires string `json:"expires,omitempty"`
	}{request, lifetime(request.Lifetime)}
	return c.newToken(ctx, "create a token", c.address(nil, "tokens"), body, options)
}

// RotateToken replaces a token, which may be the client's own: it creates one with the
// same scopes, label and lifetime, and lets the old one expire after the overlap. Errors
// in addition to those of every call: ErrTokenNotFound.
func (c *Client) RotateToken(ctx context.Context, id int64, overlap time.Duration, options ...WriteOption) (NewToken, error) {
	address := c.address(nil, "tokens", text(id), "rotate")
	body := map[string]string{"overlap": overlap.String()}
	return c.newToken(ctx, "rotate token "+text(id), address, body, options)
}

// RevokeToken revokes a token; the service refuses it from the next request on. Errors in
// addition to those of every call: ErrTokenNotFound.
func (c *Client) RevokeToken(ctx context.Context, id int64, options ...WriteOption) error {
	call := &call{op: "revoke token " + text(id), method: http.MethodDelete, url: c.address(nil, "tokens", text(id))}
	_, err := send(ctx, c, call, nil, options, decodeSuccess)
	return err
}

// RevokeTokenAndChildren revokes a token and all tokens that were made with it, and with
// those. It returns the ids of those that were not revoked before. Errors as of RevokeToken.
func (c *Client) RevokeTokenAndChildren(ctx context.Context, id int64, options ...WriteOption) ([]int64, error) {
	address := c.address(url.Values{"children": {"true"}}, "tokens", text(id))
	call := &call{op: "revoke token " + text(id), method: http.MethodDelete, url: address}
	return send(ctx, c, call, nil, options, decodeRevoked)
}

// newToken sends a request for a new token.
func (c *Client) newToken(ctx context.Context, op, address string, body any, options []WriteOption) (NewToken, error) {
	return send(ctx, c, &call{op: op, method: http.MethodPost, url: address, creates: true}, body, options, decodeNewToken)
}

// lifetime returns a duration as the service reads it; empty for 0.
func lifetime(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
