package robust

import (
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestTokensEndTogether makes tokens with a token of three seconds, and revokes a token
// with what it made. It guards that nobody who has a token for a while gets one for ever.
func TestTokensEndTogether(t *testing.T) {
	t.Parallel()
	s := start(t)
	type made struct {
		Text  string
		Token struct {
			ID        int64
			ExpiresAt time.Time
		}
	}
	create := func(token, path, body string) (child made) {
		testenv.Send(t, token, "POST", apptest.Address(s.Base, path), body).Decode(t, &child)
		return child
	}
	const both = `"scopes":["orders:read","tokens"]`
	operator := s.Folder.Token(t, "--operator")
	for _, rotate := range []bool{false, true} {
		short := create(operator, "/operator/tokens", `{"merchantId":355,`+both+`,"expires":"3s"}`)
		path, body := "/v2/tokens", `{"scopes":["orders:read"]}`
		if rotate {
			path, body = fmt.Sprintf("/v2/tokens/%d/rotate", short.Token.ID), ""
		}
		testenv.Send(t, short.Text, "POST", apptest.Address(s.Base, path), `{"expires":"1h"}`).WantStatus(t, 400)
		child := create(short.Text, path, body)
		if !child.Token.ExpiresAt.Equal(short.Token.ExpiresAt) {
			t.Errorf("rotate %v: ends %s, want %s", rotate, child.Token.ExpiresAt, short.Token.ExpiresAt)
		}
		testenv.Eventually(t, "the child has ended", func() bool {
			return testenv.Send(t, child.Text, "GET", s.Base+"/v2/orders", "").Status == 401
		})
	}
	root := s.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read,tokens")
	parent := create(root, "/v2/tokens", `{`+both+`}`)
	child := create(parent.Text, "/v2/tokens", `{`+both+`}`)
	grandchild := create(child.Text, "/v2/tokens", `{"scopes":["orders:read"]}`)
	revoked := testenv.Send(t, root, "DELETE", fmt.Sprintf("%s/v2/tokens/%d?children=true", s.Base, parent.Token.ID), "")
	want := fmt.Sprintf(`{"success":true,"revoked":[%d,%d,%d]}`, parent.Token.ID, child.Token.ID, grandchild.Token.ID)
	revoked.Want(t, "revocation", 200, want)
	for _, text := range []string{parent.Text, child.Text, grandchild.Text} {
		testenv.Send(t, text, "GET", s.Base+"/v2/orders", "").WantStatus(t, 401)
	}
	testenv.Send(t, root, "GET", s.Base+"/v2/orders", "").WantStatus(t, 200)
}
