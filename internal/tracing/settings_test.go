package tracing_test

import (
	"testing"

	"merchantorders/internal/tracing"
)

func TestEndpoint(t *testing.T) {
	t.Parallel()
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318"
	const headers = "OTEL_EXPORTER_OTLP_HEADERS: must be a list such as name=value,name=value, with percent-encoded values"
	for name, test := range map[string]struct {
		environ []string
		want    string // empty: off, or refused
		err     string
	}{
		"nothing":             {nil, "", ""},
		"other variables":     {[]string{"OTEL_SERVICE_NAME=x", "OTEL_EXPORTER_OTLP_HEADERS=secret", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", ""},
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
		"headers":    {[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20x, tenant=a=b"}, "http://collector:4318/v1/traces", ""},
		"no URL":     {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"}, "", "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as http://127.0.0.1:4318"},
		"no header":  {[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=secret"}, "", headers},
		"bad header": {[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=a=secret%zz"}, "", headers},
	} {
		got, err := tracing.Endpoint(test.environ)
		text := ""
		if err != nil {
			text, got = err.Error(), ""
		}
		if got != test.want || text != test.err {
			t.Errorf("%s: endpoint %q, error %q; want %q, %q", name, got, text, test.want, test.err)
		}
	}
}
