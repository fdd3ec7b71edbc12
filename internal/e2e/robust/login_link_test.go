package robust

import (
	"encoding/json"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestLoginLinkIsTraced signs in as a merchant by a login link. It guards that an operator
// cannot act as a merchant without a trace: both entries of the audit log name the token
// of the operator, the request and the address.
func TestLoginLinkIsTraced(t *testing.T) {
	t.Parallel()
	s := start(t)
	operator := s.Folder.Token(t, "--operator")
	made := testenv.Send(t, operator, "POST", s.Base+"/operator/merchants/355/login-link", `{}`, "X-Request-Id", "made")
	var link struct{ URL string }
	made.Decode(t, &link)
	testenv.Send(t, "", "POST", link.URL, "", "X-Request-Id", "used").WantStatus(t, 303)
	log := testenv.Send(t, operator, "GET", s.Base+"/operator/audit?merchantId=355", "", "Accept", "application/x-ndjson")
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
