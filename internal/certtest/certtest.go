// Package certtest makes certificates for tests of TLS.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// Host is a name in the certificates beside those of this machine.
const Host = "db.example.com"

// Pair is a certificate for this machine and Host, which is signed by itself, and its
// key.
type Pair struct {
	Cert, Key string         // files
	Pool      *x509.CertPool // has the certificate only
}

// New returns a new pair in a folder of the test. The certificate is valid from 2020
// until notAfter.
func New(t testing.TB, notAfter time.Time) Pair {
	t.Helper()
	return WriteTo(t, t.TempDir(), notAfter)
}

// WriteTo is like New, with the folder of the files cert.pem and key.pem. It replaces
// them.
func WriteTo(t testing.TB, dir string, notAfter time.Time) Pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost", Host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	parsed, err := x509.ParseCertificate(cert)
	check(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	p := Pair{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Pool: x509.NewCertPool()}
	p.Pool.AddCert(parsed)
	check(t, os.WriteFile(p.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	check(t, os.WriteFile(p.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	testenv.NoError(t, err)
}
