package robust

import (
	"testing"

	"merchantorders/internal/testenv"
)

// TestOperatorsBehindAProxy asks for what is for operators as a proxy on the same machine
// does, whose clients all come from a loopback address: the main port never has it, whether
// the settings name the proxy or not.
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
				testenv.Send(t, operator, "GET", s.Process.BaseURL+path, "", "X-Forwarded-For", "198.51.100.7").WantStatus(t, 404)
				// The shortest configuration of a proxy sets no header.
				testenv.Send(t, operator, "GET", s.Process.BaseURL+path, "").WantStatus(t, 404)
			}
		})
	}
}
