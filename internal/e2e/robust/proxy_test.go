package robust

import (
	"testing"

	"merchantorders/internal/testenv"
)

// TestOperatorsBehindAProxy asks for what is for operators as a proxy on the same machine
// does, whose clients all come from a loopback address. It guards that nobody but the
// machine itself reaches it, whether the settings name the proxy or not.
func TestOperatorsBehindAProxy(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"no setting":      nil,
		"trusted proxies": {"--trusted-proxies=127.0.0.1"},
		"base URL":        {"--base-url=https://orders.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, flags...)
			operator := s.Folder.Token(t, "--operator")
			for _, path := range []string{"/metrics", "/operator/merchants", "/console/operator", "/console/operator/tokens"} {
				got := testenv.Send(t, operator, "GET", s.Process.BaseURL+path, "", "X-Forwarded-For", "198.51.100.7")
				got.WantStatus(t, 404)
				if direct := testenv.Send(t, operator, "GET", s.Process.BaseURL+path, ""); (direct.Status == 404) != (flags != nil) {
					t.Errorf("%s without a proxy: %d", path, direct.Status)
				}
			}
		})
	}
}
