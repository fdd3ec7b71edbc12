package app

import (
	"context"
	"errors"
	"net/http"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/api/storageapi"
	v1 "merchantorders/internal/api/v1"
	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/docpages"
	"merchantorders/internal/web"
)

// keptAnswers is how many bytes of answers are kept: what a few thousand clients
// poll. Together with all else the service stays below 128 MB.
const keptAnswers = 24 << 20

// handler puts the doors of the service before its backend.
func (s *server) handler(baseURL, storageURL string) http.Handler {
	router := s.router(baseURL, storageURL)
	return s.wrap(web.Observe(router, router.EncodeError, s.log, s.metrics, s.now))
}

// router has everything that is served.
func (s *server) router(baseURL, storageURL string) *web.Router {
	ready := func(ctx context.Context) error { return errors.Join(s.db.Ping(ctx), s.files.Check(ctx)) }
	region, bucket := s.settings.StorageNames()
	kept := web.NewKept(keptAnswers, s.now)
	return web.NewLimitedRouter(s.tokens, web.NewLimits(s.flags.Requests(), s.now),
		v1.Routes(v1.Deps{Orders: s.orders, Metrics: s.metrics, BaseURL: baseURL, StorageURL: storageURL, Kept: kept}),
		v2.Routes(v2.Deps{BaseURL: baseURL, Orders: s.orders, Metrics: s.metrics, StorageURL: storageURL, Kept: kept, ErrorCodes: v2.ErrorCodes(s.settings.ErrorCodes)}),
		storageapi.Routes(storageapi.Deps{Orders: s.orders, Region: region, Bucket: bucket}),
		operator.Routes(operator.Deps{Orders: s.orders, Tokens: s.tokens}),
		docpages.DocumentRoutes(),
		docpages.PageRoutes(docpages.Deps{BaseURL: baseURL}),
		web.HealthRoutes(ready, s.metrics),
	)
}
