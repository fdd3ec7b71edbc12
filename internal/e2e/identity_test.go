package e2e

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestIdentityProvider signs a person in with a real identity provider, an example of its
// library.
// Proves decision 1 (people in a browser).
func TestIdentityProvider(t *testing.T) {
	t.Parallel()
	testenv.Need(t, "an identity provider")
	program := testenv.Of(testenv.Tool("github.com/zitadel/oidc/v3/example/server")).Must(t)
	address := testenv.FreeAddress(t)
	_, port, _ := net.SplitHostPort(testenv.FreeAddress(t))
	provider := exec.Command(program)
	provider.Env = append(os.Environ(), "PORT="+port, "REDIRECT_URI=http://"+address+"/console/oidc/callback")
	ended := testenv.Of(testenv.StartServer(provider, syscall.SIGKILL)).Must(t)
	t.Cleanup(func() { _ = provider.Process.Kill(); <-ended })
	issuer := "http://localhost:" + port + "/"
	testenv.Eventually(t, "the provider responds", func() bool {
		response, err := http.Get(issuer + ".well-known/openid-configuration")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	s := apptest.Start(t, "--listen", address, "--oidc-issuer", issuer, "--oidc-client-id", "web", "--oidc-client-secret", "secret",
		"--oidc-rules", "sub=id1 merchant=355 orders:read")

	jar := testenv.Of(cookiejar.New(nil)).Must(t)
	browser := &http.Client{Jar: jar, Timeout: testenv.WaitTimeout}
	form, err := browser.Get(s.BaseURL + "/console/oidc?next=/console/orders")
	testenv.NoError(t, err)
	_ = form.Body.Close()
	id := form.Request.URL.Query().Get("authRequestID")
	if id == "" {
		t.Fatalf("%d at %s", form.StatusCode, form.Request.URL)
	}
	page, err := browser.PostForm(issuer+"login/username", url.Values{"id": {id}, "username": {"test-user@localhost"}, "password": {"verysecure"}})
	testenv.NoError(t, err)
	defer func() { _ = page.Body.Close() }()
	if page.StatusCode != http.StatusOK || !strings.HasPrefix(page.Request.URL.String(), s.BaseURL+"/console/orders") {
		t.Errorf("%d at %s", page.StatusCode, page.Request.URL)
	}
}
