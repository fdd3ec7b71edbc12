package webhook

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
)

// MaxURL is the length of the longest URL of an endpoint, in bytes.
const MaxURL = 1000

// ports are those that an endpoint may have.
var ports = []uint16{443, 8443}

// public allows connections to public addresses only. It refuses everything in the
// registries of special addresses of IANA: loopback, private, shared, link-local,
// multicast, documentation, and IPv4 inside of IPv6.
var public = ssrf.New(ssrf.WithPorts(ports...))

// URLProblem returns what is wrong with the URL of an endpoint, as a phrase that
// follows the name of the field. It returns "" for a valid URL. It does not resolve
// the host: Client checks each address to which it connects.
//
// With allowPrivate a URL may also have the scheme http, any port and any address.
func URLProblem(text string, allowPrivate bool) string {
	if len(text) > MaxURL {
		return "must have at most 1000 bytes"
	}
	// Parsers disagree about such characters, and some see another host than others.
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return "must be printable ASCII without spaces and backslashes; write the host of an international domain as xn--..."
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "https" && (!allowPrivate || u.Scheme != "http"):
		return "must begin with https://"
	case u.User != nil:
		return "must not have a user name or password"
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "must not have a fragment"
	case u.Hostname() == "":
		return "must have a host"
	case u.Port() != "" && !validPort(u.Port()):
		return "must have a port from 1 to 65535"
	case allowPrivate:
		return ""
	case u.Port() != "" && u.Port() != "443" && u.Port() != "8443":
		return "must have port 443 or 8443"
	}
	return hostProblem(u.Hostname())
}

func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// hostProblem is URLProblem for the host.
func hostProblem(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" || public.SafeAddr(ip.Unmap()) != nil || ip.Is4In6() {
			return "must have a public address"
		}
		return ""
	}
	labels := strings.Split(strings.ToLower(host), ".")
	last := labels[len(labels)-1]
	switch {
	case last == "":
		return "must have a host without a dot at its end"
	case strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x"):
		// inet_aton and browsers read 0x7f.1, 017700000001 and 2130706433 as IPv4.
		return "must have an IPv4 address of four decimal numbers, or a name"
	case len(labels) == 1 || slices.Contains(labels, ""):
		return "must have a host name with a domain, such as hooks.example.com"
	case slices.Contains(localDomains, last):
		return "must have a public host name"
	case strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return "must have a host name of letters, digits, hyphens and dots"
	}
	return ""
}

// localDomains are top-level domains that are never public. Connections to their
// addresses would be refused too; this tells whoever adds the endpoint.
var localDomains = []string{"localhost", "local", "internal", "lan", "home", "corp", "intranet", "test", "invalid", "arpa", "onion"}
