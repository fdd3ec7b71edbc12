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
		"or --operator is required": nil, "together with --operator": {"--operator", "--merchant", "355"}, "must be a whole number": {"--merchant", "x"}, "is not a scope": {"--merchant", "355", "--scopes", "audit"},
	} {
		folder.Run(t, "", append([]string{"login-link"}, flags...)...).WantText(t, 2, problem)
	}
	got = folder.Run(t, "", "login-link", "--operator", "--name", "Ελένη", "--base-url", "https://orders.example.com", "--scopes", "orders:read,audit")
	if got.Code != 0 || !loginLink.MatchString(got.Stdout) || !strings.Contains(got.Stderr, "operator=true scopes=orders:read,audit") {
		t.Errorf("%+v", got)
	}
	folder.Run(t, "", "login-link", "--merchant", "999").WantText(t, 1, "there is no merchant 999")
}
