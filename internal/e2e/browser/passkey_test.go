package browser

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// person is somebody with a browser and a device with passkeys.
type person struct {
	*staff
	device webauthn.AuthenticatorID
}

// newDevicePerson returns a person who has just signed in with a link.
func newDevicePerson(t *testing.T, s *apptest.Server, base, name string, flags ...string) *person {
	t.Helper()
	p := &person{staff: newPerson(t, s, base)}
	command(t, p.tab, webauthn.Enable, webauthn.EnableParams{})
	p.newDevice(t)
	p.useLink(t, append([]string{"login-link", "--name", name}, flags...)...)
	return p
}

// newDevice gives the person another device.
func (p *person) newDevice(t *testing.T) {
	t.Helper()
	if p.device != "" {
		command(t, p.tab, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: p.device})
	}
	made := testenv.Of(chromedp.Call(p.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})).Must(t)
	p.device = made.AuthenticatorID
}

var linkPath = regexp.MustCompile(`/console/login/\S+`)

func (p *person) useLink(t *testing.T, args ...string) {
	t.Helper()
	made := p.Folder.Run(t, "", args...)
	p.run(t, chromedp.Navigate(p.BaseURL+linkPath.FindString(made.Stdout)))
	p.click(t, "main button")
	p.wait(t, ".account", args[2])
}

// makePasskey follows the offer of the page that the person begins with.
func (p *person) makePasskey(t *testing.T) {
	t.Helper()
	p.wait(t, "[data-passkey-offer]", "Make a passkey")
	p.click(t, "[data-passkey-offer] a")
	p.wait(t, "[data-make] button", "Make a passkey")
	p.click(t, "[data-make] button")
	p.wait(t, ".notice", "The passkey is made")
}

// leave signs out.
func (p *person) leave(t *testing.T) {
	t.Helper()
	p.click(t, `form[action="/console/sign-out"] button`)
	p.wait(t, "form[data-passkey] button", "Sign in with a passkey")
}

// comeBack signs out and in again.
func (p *person) comeBack(t *testing.T, selector, text string) {
	t.Helper()
	p.leave(t)
	p.usePasskey(t, selector, text)
}

// loseSession tries to make a passkey after the session has ended, and to use one without a
// connection.
func (p *person) loseSession(t *testing.T) {
	t.Helper()
	command(t, p.tab, network.ClearBrowserCookies, cdp.Empty{})
	p.click(t, "[data-make] button")
	p.wait(t, "[role=alert]", "your session had ended")
	p.connect(t, true)
	p.click(t, "form[data-passkey] button")
	p.wait(t, ".field-problem", "The service did not answer")
	p.connect(t, false)
	p.forgive("403")
	p.forgive("ERR_INTERNET_DISCONNECTED")
	p.usePasskey(t, ".account", "Νίκος")
}

// usePasskey signs in with one click beside that on the device.
func (p *person) usePasskey(t *testing.T, selector, text string) {
	t.Helper()
	p.wait(t, "form[data-passkey] button", "Sign in with a passkey")
	p.click(t, "form[data-passkey] button")
	p.wait(t, selector, text)
}

// removePasskey removes a passkey of the page after a question.
func (p *person) removePasskey(t *testing.T, warning string) {
	t.Helper()
	p.click(t, `form[action$="/passkeys/remove"] button`)
	p.wait(t, "main", warning)
	p.click(t, "main .danger")
}

// credential returns the only credential of the device.
func (p *person) credential(t *testing.T) *webauthn.Credential {
	t.Helper()
	all := testenv.Of(chromedp.Call(p.ctx, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: p.device})).Must(t).Credentials
	testenv.Equal(t, "credentials", 1, len(all))
	return all[0]
}

// Elements of the lists of passkeys.
const (
	passkeyRows = "section[aria-labelledby=passkeys-heading] tbody"
	passkeyID   = "[name=passkey][value]"
)

const refusedPasskey = "This passkey does not work here"

// TestPasskeys signs people in again with Chromium's virtual authenticator: of two stores and
// of the marketplace.
// Proves decision 1 (people in a browser).
func TestPasskeys(t *testing.T) {
	startBrowser(t)
	listen, admin := testenv.FreeAddress(t), testenv.FreeAddress(t)
	base, adminBase := "http://localhost"+listen[strings.LastIndex(listen, ":"):], "http://localhost"+admin[strings.LastIndex(admin, ":"):]
	s := apptest.Start(t, "--listen", listen, "--base-url", base, "--admin-listen", admin, "--admin-base-url", adminBase)
	s.Merchant(t, 777)
	nikos := newDevicePerson(t, s, base, "Νίκος", "--merchant", "355")
	nikos.makePasskey(t)
	own := value(t, nikos.tab, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).value`, passkeyID)))
	nikos.click(t, "[data-make] button")
	nikos.wait(t, "[role=alert]", "has a passkey for you already")
	nikos.loseSession(t)
	nikos.comeBack(t, ".account", "Νίκος")
	if offers := value(t, nikos.tab, chromedp.Evaluate[int](`document.querySelectorAll("[data-passkey-offer]").length`)); offers != 0 {
		t.Error("a session of a passkey offers another one")
	}

	t.Run("another store", func(t *testing.T) {
		other := newDevicePerson(t, s, base, "Μαρία", "--merchant", "777", "--scopes", allScopes)
		other.makePasskey(t)
		other.comeBack(t, ".account", "Μαρία")
		other.see(t, "/console/people", passkeyRows, "Μαρία")
		value(t, other.tab, chromedp.Evaluate[bool](fmt.Sprintf(`document.querySelector(%q).value = %q, true`, passkeyID, own)))
		other.removePasskey(t, "cannot be undone")
		other.wait(t, ".notice", "is removed")
		nikos.comeBack(t, ".account", "Νίκος")
		other.comeBack(t, ".account", "Μαρία")
		other.see(t, "/console/people", passkeyRows, "Μαρία")
		other.removePasskey(t, "this signs you out")
		other.usePasskey(t, "[role=alert]", refusedPasskey)
		other.forgive("403")
	})

	t.Run("operator", func(t *testing.T) {
		eleni := newDevicePerson(t, s, adminBase, "Ελένη", "--operator")
		eleni.makePasskey(t)
		eleni.comeBack(t, ".account", "Ελένη")
		// One host has the passkeys of both ports.
		eleni.BaseURL = base
		eleni.run(t, chromedp.Navigate(base+"/"))
		eleni.usePasskey(t, "[role=alert]", refusedPasskey)
		eleni.forgive("403")
		eleni.forgive("a request to")
	})

	t.Run("wrong origin", func(t *testing.T) {
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(testenv.Of(url.Parse("http://" + listen)).Must(t))
			r.Out.Host = r.In.Host
		}})
		defer proxy.Close()
		wrong := "http://localhost" + proxy.URL[strings.LastIndex(proxy.URL, ":"):]
		nikos.leave(t)
		nikos.run(t, chromedp.Navigate(wrong+"/"), chromedp.WaitVisible(chromedp.CSS("#token")))
		nikos.wantNoButton(t)
		value(t, nikos.tab, chromedp.Evaluate[bool](`(async () => {
			const form = document.querySelector("form[data-passkey]");
			const options = await (await fetch(form.dataset.ask, { method: "POST" })).json();
			const made = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
			form.elements.passkey.value = JSON.stringify(made.toJSON());
			form.submit();
		})(), true`))
		nikos.wait(t, "[role=alert]", refusedPasskey)
		nikos.forgive("403")
		nikos.forgive("a request to")
		if !strings.Contains(s.Log(), "a passkey signed nobody in") || !strings.Contains(s.Log(), "rigin") {
			t.Error("the log does not name the origin")
		}
	})

	t.Run("no button", func(t *testing.T) {
		nikos.run(t, chromedp.Navigate("http://"+listen+"/"), chromedp.WaitVisible(chromedp.CSS("#token")))
		nikos.wantNoButton(t)
		nikos.forgive("a request to")
		nikos.runScripts(t, false)
		nikos.run(t, chromedp.Navigate(base+"/"), chromedp.WaitVisible(chromedp.CSS("#token")))
		nikos.runScripts(t, true)
		nikos.wantNoButton(t)
	})

	t.Run("cloned", func(t *testing.T) {
		nikos.run(t, chromedp.Navigate(base+"/"))
		nikos.usePasskey(t, ".account", "Νίκος")
		own := nikos.credential(t)
		nikos.leave(t)
		nikos.newDevice(t)
		command(t, nikos.tab, cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}, map[string]any{ // the type has fields that Chromium refuses
			"authenticatorId": nikos.device, "credential": map[string]any{
				"credentialId": own.CredentialID, "isResidentCredential": true, "rpId": "localhost", "privateKey": own.PrivateKey, "userHandle": own.UserHandle, "signCount": 1,
			},
		})
		nikos.usePasskey(t, "[role=alert]", "seems to have copied this passkey")
		nikos.usePasskey(t, "[role=alert]", refusedPasskey)
		nikos.forgive("403")
	})
}

// wantNoButton checks that the page does not offer a passkey.
func (p *person) wantNoButton(t *testing.T) {
	t.Helper()
	if !value(t, p.tab, chromedp.Evaluate[bool](`document.querySelector("form[data-passkey]").offsetHeight === 0`)) {
		t.Error("the page offers a passkey")
	}
}
