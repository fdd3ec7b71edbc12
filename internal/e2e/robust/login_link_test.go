package robust

import (
	"encoding/json"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestLoginLinksOfTwoPorts opens links at the wrong one of two ports. It guards that neither
// signs in there, and that this does not use the link up.
func TestLoginLinksOfTwoPorts(t *testing.T) {
	t.Parallel()
	admin := testenv.FreeAddress(t)
	s := start(t, "--admin-listen", admin)
	for right, flags := range map[string][]string{"http://" + admin: {"--operator"}, s.Base: {"--merchant", "355"}} {
		wrong := map[string]string{"http://" + admin: s.Base, s.Base: "http://" + admin}[right]
		made := s.Folder.Run(t, "", append([]string{"login-link", "--name", "Ελένη"}, flags...)...)
		path := strings.TrimSpace(made.Stdout[strings.Index(made.Stdout, "/console/"):])
		got := testenv.Send(t, "", "POST", wrong+path, "")
		if got.WantText(t, 403, "another address of the service"); got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%v: signed in at %s", flags, wrong)
		}
		testenv.Send(t, "", "POST", right+path, "").WantStatus(t, 303)
		testenv.Send(t, "", "POST", right+path, "").WantText(t, 403, "was used")
	}
}

// TestLoginLinkIsTraced signs in as a merchant by a login link. It guards that an operator
// cannot act as a merchant without a trace: both entries of the audit log name the token
// of the operator, the request and the address.
func TestLoginLinkIsTraced(t *testing.T) {
	t.Parallel()
	s := start(t)
	operator := s.Folder.Token(t, "--operator")
	made := testenv.Send(t, operator, "POST", apptest.Address(s.Base, "/operator/merchants/355/login-link"), `{}`, "X-Request-Id", "made")
	var link struct{ URL string }
	made.Decode(t, &link)
	testenv.Send(t, "", "POST", link.URL, "", "X-Request-Id", "used").WantStatus(t, 303)
	log := testenv.Send(t, operator, "GET", apptest.Address(s.Base, "/operator/audit?merchantId=355"), "", "Accept", "application/x-ndjson")
	log.WantStatus(t, 200)
	issuers := make(map[string]int64) // by request
	for line := range strings.Lines(log.Body) {
		var entry struct {
			Action, Address, RequestID string
			TokenID                    int64
		}
		testenv.NoError(t, json.Unmarshal([]byte(line), &entry))
		if entry.Address == "127.0.0.1" {
			issuers[entry.Action+" "+entry.RequestID] = entry.TokenID
		}
	}
	issuer := issuers["login_link.created made"]
	if issuer == 0 || issuers["token.created used"] != issuer || strings.Contains(log.Body, link.URL[strings.LastIndex(link.URL, "/")+1:]) {
		t.Errorf("tokens %v, in the log:\n%s", issuers, log.Body)
	}
}
