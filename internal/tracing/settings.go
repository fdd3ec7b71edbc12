package tracing

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// The environment variables of OpenTelemetry that say where and how spans are sent.
// Those with the infix TRACES take precedence, and their endpoint is complete. The
// library reads the others, such as OTEL_SERVICE_NAME and OTEL_TRACES_SAMPLER.
const (
	exporterPrefix = "OTEL_EXPORTER_OTLP_"
	tracesPrefix   = exporterPrefix + "TRACES_"

	disabledVariable = "OTEL_SDK_DISABLED"
	exporterVariable = "OTEL_TRACES_EXPORTER"
)

const (
	// protocol is the only one that the service speaks.
	protocol = "http/protobuf"
	// defaultTimeout bounds the sending of a batch of spans.
	defaultTimeout = 10 * time.Second
)

// Settings say where and how spans are sent. The zero value means nowhere.
type Settings struct {
	endpoint string // URL
	header   http.Header
	timeout  time.Duration
	tls      *tls.Config // nil: the default
}

// On reports whether spans are sent.
func (s Settings) On() bool { return s.endpoint != "" }

// Read returns the settings in the environment variables of OpenTelemetry. The errors
// name the variable and never show a header.
func Read(environ []string) (Settings, error) {
	values := make(variables)
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = strings.TrimSpace(value)
	}
	name, endpoint := values.get("ENDPOINT")
	if endpoint == "" || strings.EqualFold(values[disabledVariable], "true") || values[exporterVariable] == "none" {
		return Settings{}, nil
	}
	if name == exporterPrefix+"ENDPOINT" {
		endpoint = strings.TrimSuffix(endpoint, "/") + "/v1/traces"
	}
	s := Settings{endpoint: endpoint}
	address, err := url.Parse(endpoint)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		err = errors.New(name + ": must be a URL such as http://127.0.0.1:4318")
	}
	err = errors.Join(err, values.only("PROTOCOL", protocol), values.only("COMPRESSION", "none"))
	var faults [3]error
	s.header, faults[0] = values.header()
	s.timeout, faults[1] = values.timeout()
	s.tls, faults[2] = values.tls()
	if err := errors.Join(err, errors.Join(faults[:]...)); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// variables are environment variables.
type variables map[string]string

// get returns the name and the value of a variable, with or without the infix.
func (v variables) get(name string) (full, value string) {
	full = exporterPrefix + name
	if v[tracesPrefix+name] != "" {
		full = tracesPrefix + name
	}
	return full, v[full]
}

// only returns an error if a variable has another value than the supported one.
func (v variables) only(name, supported string) error {
	if full, value := v.get(name); value != "" && value != supported {
		return fmt.Errorf("%s: %q is not supported; it must be %s", full, value, supported)
	}
	return nil
}

// header returns the headers to send: NAME=VALUE,... with percent-encoded values.
func (v variables) header() (http.Header, error) {
	full, list := v.get("HEADERS")
	header := make(http.Header)
	for pair := range strings.SplitSeq(list, ",") {
		name, encoded, ok := strings.Cut(strings.TrimSpace(pair), "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if pair == "" {
			continue
		}
		if !ok || name == "" || err != nil {
			return nil, errors.New(full + ": must be a list such as name=value,name=value, with percent-encoded values")
		}
		header.Set(strings.TrimSpace(name), value)
	}
	return header, nil
}

func (v variables) timeout() (time.Duration, error) {
	full, value := v.get("TIMEOUT")
	if value == "" {
		return defaultTimeout, nil
	}
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s: %q is not a number of milliseconds above 0", full, value)
	}
	return time.Duration(n) * time.Millisecond, nil
}

// tls returns the certificates of the collector and of this client; nil if none is
// set.
func (v variables) tls() (*tls.Config, error) {
	caName, ca := v.get("CERTIFICATE")
	certName, cert := v.get("CLIENT_CERTIFICATE")
	_, key := v.get("CLIENT_KEY")
	if cmp.Or(ca, cert, key) == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", caName, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM form", caName, ca)
		}
	}
	if cmp.Or(cert, key) != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and its key: %w", certName, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
