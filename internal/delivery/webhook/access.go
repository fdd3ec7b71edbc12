package webhook

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/delivery"
)

// Limits of what a gateway asks for.
const (
	MaxHeaders    = 10
	maxHeaderName = 64
	// maxCredential is the length of the longest value of a header, user name or password.
	maxCredential = 1000
)

// Access is what deliveries carry for a gateway before the receiver.
type Access struct {
	Headers map[string]delivery.Secret // by canonical name; nil: none
	// Username and Password are those of Basic authentication, which replaces a header
	// Authorization. Username is empty if there is none.
	Username string
	Password delivery.Secret
}

// equal reports whether two accesses are the same.
func (a Access) equal(b Access) bool {
	return maps.Equal(a.Headers, b.Headers) && a.Username == b.Username && a.Password == b.Password
}

// check returns ErrNoHeaderValue or ErrNoPassword if a credential is missing.
func (a Access) check() error {
	for _, value := range a.Headers {
		if value == "" {
			return ErrNoHeaderValue
		}
	}
	if a.Username != "" && a.Password == "" {
		return ErrNoPassword
	}
	return nil
}

// header returns the header fields of a delivery.
func (a Access) header() http.Header {
	h := make(http.Header, len(a.Headers)+1)
	for name, value := range a.Headers {
		h.Set(name, string(value))
	}
	if a.Username != "" {
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(a.Username+":"+string(a.Password))))
	}
	return h
}

// What is kept of the response of a receiver that gets credentials. It may repeat them in
// any encoding, whole or in part, and no list of encodings is complete. So only short plain
// text is kept, without long words and without a part of a credential.
const (
	maxKept     = 256 // bytes
	maxKeptWord = 24  // letters and digits of a word: a token in another encoding is longer
	maxRepeated = 3   // characters of a credential in a row
	// notKept stands for any other response.
	notKept = "(not kept: it may repeat the credentials)"
)

// plainWords is a text in which nothing is escaped or encoded by character.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9 \t\r\n.,:;!?'"(){}\[\]_/=-]*$`)

// hide returns what is kept of a response.
func (a Access) hide(response string) string {
	if len(a.Headers) == 0 && a.Username == "" || response == "" {
		return response
	}
	isWord := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	long := func(word string) bool { return len(word) > maxKeptWord }
	if len(response) > maxKept || !plainWords.MatchString(response) ||
		slices.ContainsFunc(strings.FieldsFunc(response, func(r rune) bool { return !isWord(r) }), long) {
		return notKept
	}
	lower := strings.ToLower(response)
	for _, secret := range a.secrets() {
		secret = strings.ToLower(secret)
		length := min(len(secret), maxRepeated+1)
		for i := 0; length > 0 && i+length <= len(secret); i++ {
			if strings.Contains(lower, secret[i:i+length]) {
				return notKept
			}
		}
	}
	return response
}

// secrets are the credentials as they are sent, without the name of their scheme.
func (a Access) secrets() []string {
	secrets := []string{string(a.Password)}
	for name, values := range a.header() {
		secret := values[0]
		if _, token, found := strings.Cut(secret, " "); found && name == "Authorization" {
			secret = token
		}
		secrets = append(secrets, secret)
	}
	return secrets
}

// headerNames are the names that a header may have beside those that begin with X- and not
// like routing.
var headerNames = []string{
	"Api-Key", "Apikey", "Authorization", "Cf-Access-Client-Id", "Cf-Access-Client-Secret", "Ocp-Apim-Subscription-Key",
	"X-Client-Id", "X-Client-Secret",
}

// routing are beginnings of names that gateways take for the address, the path or the
// method of a request, or for who sent it.
var routing = []string{"X-Accel-", "X-Client", "X-Cluster-", "X-Forward", "X-Host", "X-Http-", "X-Method", "X-Original-", "X-Real-", "X-Rewrite-"}

// ParseHeaders parses headers of the form "name: value", one a line, for a Change: one may
// have no value. It also returns what is wrong with them, as a phrase that follows the name of
// the field.
func ParseHeaders(text string) (headers map[string]delivery.Secret, problem string) {
	headers = make(map[string]delivery.Secret)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" && value == "" {
			continue
		}
		value = strings.TrimSpace(value)
		canonical := http.CanonicalHeaderKey(name)
		if _, twice := headers[canonical]; twice {
			problem = cmp.Or(problem, "must have each name once")
		}
		problem = cmp.Or(problem, HeaderNameProblem(name))
		if value != "" {
			problem = cmp.Or(problem, CredentialProblem(value))
		}
		headers[canonical] = delivery.Secret(value)
	}
	if len(headers) > MaxHeaders {
		problem = cmp.Or(problem, "must be at most 10 names and values")
	}
	return headers, problem
}

// HeaderNameProblem returns what is wrong with the name of a header, as a phrase that
// follows the name of the field. It returns "" for a valid name, in any letter case. No
// valid name is that of a header that the service sets itself.
func HeaderNameProblem(name string) string {
	canonical := http.CanonicalHeaderKey(name)
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(canonical, prefix) }
	switch {
	case len(name) > maxHeaderName || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return "must have names of at most 64 letters, digits and hyphens"
	case slices.Contains(headerNames, canonical), len(name) > len("X-") && hasPrefix("X-") && !slices.ContainsFunc(routing, hasPrefix):
		return ""
	}
	return "must have names that begin with X- and are not for routing, or are one of " + strings.Join(headerNames, ", ")
}

// CredentialProblem returns what is wrong with the value of a header or a password, as a
// phrase that follows the name of the field.
func CredentialProblem(text string) string {
	if text == "" || len(text) > maxCredential || strings.TrimSpace(text) != text ||
		strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "must be 1 to 1000 printable ASCII characters without spaces around them"
	}
	return ""
}

// UsernameProblem is CredentialProblem for a user name.
func UsernameProblem(text string) string {
	if strings.Contains(text, ":") {
		return "must not have a colon"
	}
	return CredentialProblem(text)
}

// sameHost reports whether two valid URLs lead to the same host and port.
func sameHost(a, b string) bool {
	first, err := url.Parse(a)
	second, err2 := url.Parse(b)
	return err == nil && err2 == nil && first.Scheme == second.Scheme && strings.EqualFold(first.Host, second.Host)
}
