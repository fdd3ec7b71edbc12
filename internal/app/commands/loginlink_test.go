package commands_test

import (
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
)

var loginLink = regexp.MustCompile(`^https://orders\.example\.com/console/login/[0-9A-Za-z_-]{43}\n$`)

func TestLoginLink(t *testing.T) {
	t.Parallel()
	folder := apptest.Folder{Data: t.TempDir() + "/data"}
	folder.Merchant(t, apptest.MerchantID)
	got := folder.Run(t, "", "login-link", "--merchant", "355", "--base-url", "https://orders.example.com/", "--scopes", "orders:read, tokens")
	if got.Code != 0 || !loginLink.MatchString(got.Stdout) || !strings.Contains(got.Stderr, "scopes=orders:read,tokens") {
		t.Errorf("%+v", got)
	}
	for problem, flags := range map[string][]string{
		"is required": nil, "must be a whole number": {"--merchant", "x"}, "is not a scope": {"--merchant", "355", "--scopes", "audit"},
	} {
		if got := folder.Run(t, "", append([]string{"login-link"}, flags...)...); got.Code != 2 || !strings.Contains(got.Stderr, problem) {
			t.Errorf("%q: %+v, want %q", flags, got, problem)
		}
	}
	if got := folder.Run(t, "", "login-link", "--merchant", "999"); got.Code != 1 || !strings.Contains(got.Stderr, "there is no merchant 999") {
		t.Errorf("%+v", got)
	}
}
