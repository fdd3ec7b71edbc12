package app

import (
	"context"
	"errors"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/operator"
	"merchantorders/internal/api/storageapi"
	v1 "merchantorders/internal/api/v1"
	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/docpages"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
	"merchantorders/internal/web/respcache"
)

// responseCacheSize is the size of the response cache in bytes: enough for what a
// few thousand clients poll, while the whole process stays below 128 MB.
const responseCacheSize = 24 << 20

// handler returns the handler of everything that is served.
func (s *server) handler(baseURL, storageURL string) http.Handler {
	router := s.router(baseURL, storageURL)
	return s.wrap(web.Observe(router, router.EncodeError, s.log, s.metrics, s.now))
}

// router returns the router with all routes.
func (s *server) router(baseURL, storageURL string) *web.Router {
	ready := func(ctx context.Context) error { return errors.Join(s.db.Ping(ctx), s.files.Check(ctx)) }
	region, bucket := s.settings.StorageNames()
	config := web.RouterConfig{
		Authenticator: s.tokens,
		Limits:        ratelimit.New(s.flags.Requests(), s.now),
		ResponseCache: respcache.New(responseCacheSize, s.now),
		Refusals:      s.orders,
	}
	invoices := invoiceapi.Endpoints{Orders: s.orders, Metrics: s.metrics, StorageURL: storageURL}
	return web.NewRouter(config,
		v1.API{Endpoints: invoices, BaseURL: baseURL}.Routes(),
		v2.API{Endpoints: invoices, BaseURL: baseURL, ErrorCodes: v2.ErrorCodes(s.settings.ErrorCodes)}.Routes(),
		storageapi.API{Orders: s.orders, Region: region, Bucket: bucket}.Routes(),
		operator.API{Orders: s.orders, Tokens: s.tokens}.Routes(),
		docpages.DocumentRoutes(),
		docpages.PageRoutes(baseURL),
		web.HealthRoutes(ready, s.metrics),
	)
}
