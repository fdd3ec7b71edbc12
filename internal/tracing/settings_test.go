package tracing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	t.Parallel()
	junk := filepath.Join(t.TempDir(), "junk.pem")
	if err := os.WriteFile(junk, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318"
	for name, test := range map[string]struct {
		environ []string
		want    string // the endpoint; empty: off
		err     string
	}{
		"nothing":             {nil, "", ""},
		"other variables":     {[]string{"OTEL_SERVICE_NAME=x", "OTEL_EXPORTER_OTLP_HEADERS=a=b", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", ""},
		"empty":               {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT="}, "", ""},
		"endpoint":            {[]string{endpoint}, "http://collector:4318/v1/traces", ""},
		"endpoint with path":  {[]string{endpoint + "/otlp/"}, "http://collector:4318/otlp/v1/traces", ""},
		"endpoint for traces": {[]string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://traces/in"}, "https://traces/in", ""},
		"disabled":            {[]string{endpoint, "OTEL_SDK_DISABLED=true"}, "", ""},
		"no exporter":         {[]string{endpoint, "OTEL_TRACES_EXPORTER=none"}, "", ""},
		"protocol":            {[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"}, "http://collector:4318/v1/traces", ""},
		"other protocol": {[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "",
			`OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported; it must be http/protobuf`},
		"protocol for traces": {[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"},
			"http://collector:4318/v1/traces", ""},
		"compression": {[]string{endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"}, "",
			`OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" is not supported; it must be none`},
		"no URL":       {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"}, "", "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as http://127.0.0.1:4318"},
		"no header":    {[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=secret"}, "", "OTEL_EXPORTER_OTLP_HEADERS: must be a list such as name=value,name=value, with percent-encoded values"},
		"bad header":   {[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a=secret%zz"}, "", "OTEL_EXPORTER_OTLP_HEADERS: must be a list such as name=value,name=value, with percent-encoded values"},
		"bad timeout":  {[]string{endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT=10s"}, "", `OTEL_EXPORTER_OTLP_TIMEOUT: "10s" is not a number of milliseconds above 0`},
		"certificate":  {[]string{endpoint, "OTEL_EXPORTER_OTLP_CERTIFICATE=" + junk}, "", "OTEL_EXPORTER_OTLP_CERTIFICATE: " + junk + " has no certificate in PEM form"},
		"no such file": {[]string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=/none"}, "", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: open /none: no such file or directory"},
		"no key": {[]string{endpoint, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=" + junk}, "",
			"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and its key: open : no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(test.environ)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got.endpoint != test.want || got.On() != (test.want != "") || text != test.err {
				t.Errorf("endpoint %q, error %q; want %q, %q", got.endpoint, text, test.want, test.err)
			}
		})
	}
}

func TestReadOptions(t *testing.T) {
	t.Parallel()
	s, err := Read([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector", "OTEL_EXPORTER_OTLP_TIMEOUT=2500",
		"OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20x, tenant=a=b,",
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.timeout != 2500*time.Millisecond || s.tls != nil ||
		strings.Join(s.header.Values("authorization"), "|") != "Bearer x" || s.header.Get("Tenant") != "a=b" || len(s.header) != 2 {
		t.Errorf("settings %+v", s)
	}
}
