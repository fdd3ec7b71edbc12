package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/netip"
	"strings"
)

// maxPEM is the size of the largest file with certificates, in bytes.
const maxPEM = 1 << 20

// TLS reports whether connections are encrypted by the service itself.
func (s Serve) TLS() bool { return s.TLSCert != "" || s.TLSKey != "" }

// Certificate reads TLSCert and TLSKey. The error is an *Error of one of them.
func (s Serve) Certificate() (tls.Certificate, error) {
	switch {
	case s.TLSCert == "":
		return tls.Certificate{}, Invalid("tls-cert", "is required with --tls-key")
	case s.TLSKey == "":
		return tls.Certificate{}, Invalid("tls-key", "is required with --tls-cert")
	}
	cert, err := readFile(s.TLSCert, maxPEM)
	if err != nil {
		return tls.Certificate{}, Invalid("tls-cert", s.TLSCert+": "+err.Error())
	}
	key, err := readFile(s.TLSKey, maxPEM)
	if err != nil {
		return tls.Certificate{}, Invalid("tls-key", s.TLSKey+": "+err.Error())
	}
	if problem := checkCertificate(cert); problem != "" {
		return tls.Certificate{}, Invalid("tls-cert", "must be a file with a certificate in PEM form: "+s.TLSCert+" "+problem)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, Invalid("tls-key", "must be a file with the private key of the certificate in "+s.TLSCert+", in PEM form: "+
			s.TLSKey+": "+strings.TrimPrefix(err.Error(), "tls: "))
	}
	return pair, nil
}

// checkCertificate returns what is wrong with the first certificate of a PEM file,
// that of the server.
func checkCertificate(content []byte) string {
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "has a damaged one"
		}
		return ""
	}
	return "has none"
}

// checkTLS checks that the certificate can be used.
func (s Serve) checkTLS() error {
	if !s.TLS() {
		return nil
	}
	_, err := s.Certificate()
	return err
}

// listenFlag is a flag with a listening address.
type listenFlag struct{ name, address string }

// NoListener is the value of --admin-listen for no listener.
const NoListener = "none"

// checkFurtherListen checks the address of a listener beside the main one, which must not
// overlap with those of others.
func checkFurtherListen(address string, others ...listenFlag) string {
	if address == "" || address == NoListener {
		return ""
	}
	if problem := CheckListen(address); problem != "" {
		return problem
	}
	for _, other := range others {
		if overlap(address, other.address) {
			return "overlaps with --" + other.name + " " + other.address + ": choose another port"
		}
	}
	return ""
}

// overlap reports whether two listening addresses may share a port. Two names of
// hosts are compared as they are spelled: the second listener fails if they have the
// same address.
func overlap(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	if portA != portB || portA == "0" {
		return false
	}
	return everyAddress(hostA) || everyAddress(hostB) || strings.EqualFold(hostA, hostB) ||
		IsLoopback(a) && IsLoopback(b) && (hostA == localhost || hostB == localhost) || sameIP(hostA, hostB)
}

// everyAddress reports whether a host means all addresses of the machine.
func everyAddress(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "" || err == nil && address.Unmap().IsUnspecified()
}

func sameIP(a, b string) bool {
	one, err := netip.ParseAddr(a)
	other, otherErr := netip.ParseAddr(b)
	return err == nil && otherErr == nil && one.Unmap() == other.Unmap()
}

// Proxies returns TrustedProxies as networks.
func (s Serve) Proxies() []netip.Prefix {
	networks, _ := parseNetworks(s.TrustedProxies) // Check has found it valid
	return networks
}

// parseNetworks parses networks and addresses, separated by commas. It also returns
// what is wrong.
func parseNetworks(text string) ([]netip.Prefix, string) {
	var networks []netip.Prefix
	if text == "" {
		return nil, ""
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		network, err := netip.ParsePrefix(entry)
		if address, addressErr := netip.ParseAddr(entry); addressErr == nil && address.Zone() == "" {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || network.Addr().Is4In6():
			return nil, "must be networks or addresses, separated by commas, such as 10.0.0.0/8,2001:db8::/32,192.0.2.1; " + entry + " is none"
		case network.Bits() == 0:
			return nil, "must not trust every address: " + entry
		}
		networks = append(networks, network.Masked())
	}
	return networks, ""
}
