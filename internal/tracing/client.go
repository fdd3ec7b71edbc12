package tracing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sendAttempts is how often a batch of spans is sent at most, with pauses of
// sendPause, twice as long each time, if the collector is busy.
const (
	sendAttempts = 3
	sendPause    = time.Second
)

// client sends spans over HTTP. It implements otlptrace.Client. The library's own one
// brings gRPC, which it does not use: 3.3 MB of program and 1.4 MB of memory, also
// while tracing is off.
type client struct {
	settings Settings
	http     *http.Client
}

func newClient(settings Settings) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = settings.tls
	return &client{settings, &http.Client{Transport: transport, Timeout: settings.timeout}}
}

// Start implements otlptrace.Client. The client connects when it sends.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// The request of OTLP has the same encoding as this message.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	pause := sendPause
	for attempt := 1; ; attempt++ {
		busy, err := c.send(ctx, body)
		if !busy || attempt == sendAttempts {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return err
		}
	}
}

// send sends the body of a request. busy says that the collector asks for another
// attempt.
func (c *client) send(ctx context.Context, body []byte) (busy bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header = c.settings.header.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.http.Do(request)
	if err != nil {
		return false, err
	}
	// Read to the end, so that the connection is used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	_ = response.Body.Close()
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		busy = true
	}
	if response.StatusCode/100 != 2 {
		err = fmt.Errorf("the collector responds with status %d", response.StatusCode)
	}
	return busy, err
}
