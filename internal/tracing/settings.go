package tracing

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const exporterPrefix = "OTEL_EXPORTER_OTLP_"

// Endpoint returns the URL to which the environment variables of OpenTelemetry send
// spans; empty: tracing is off. It refuses what the library ignores or shows in the log
// with its value, such as headers. The library reads all other variables itself.
func Endpoint(environ []string) (string, error) {
	values := make(map[string]string)
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = strings.TrimSpace(value)
	}
	base, complete := values[exporterPrefix+"ENDPOINT"], values[exporterPrefix+"TRACES_ENDPOINT"]
	if base+complete == "" || strings.EqualFold(values["OTEL_SDK_DISABLED"], "true") || values["OTEL_TRACES_EXPORTER"] == "none" {
		return "", nil
	}
	endpoint := cmp.Or(complete, strings.TrimSuffix(base, "/")+"/v1/traces")
	var faults []error
	if address, err := url.Parse(endpoint); err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		faults = append(faults, fmt.Errorf("%sENDPOINT: must be a URL such as http://127.0.0.1:4318", exporterPrefix))
	}
	if cmp.Or(values[exporterPrefix+"TRACES_PROTOCOL"], values[exporterPrefix+"PROTOCOL"]) == "grpc" {
		faults = append(faults, fmt.Errorf(`%sPROTOCOL: "grpc" is not supported; it must be http/protobuf`, exporterPrefix))
	}
	for _, name := range []string{exporterPrefix + "HEADERS", exporterPrefix + "TRACES_HEADERS"} {
		if !validHeaders(values[name]) {
			faults = append(faults, errors.New(name+": must be a list such as name=value,name=value, with percent-encoded values"))
		}
	}
	return endpoint, errors.Join(faults...)
}

// validHeaders reports whether a list of headers is empty or valid.
func validHeaders(list string) bool {
	if list == "" {
		return true
	}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !ok || err != nil || strings.TrimSpace(name) == "" {
			return false
		}
	}
	return true
}
