.PHONY: help run test lint bench

help: ## what there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## serve with the demo merchant on http://127.0.0.1:8080
	go run ./cmd/merchant-orders serve --demo

test: ## every check and test, as CI runs them
	bash scripts/test

lint: ## format, vet and staticcheck alone
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...

bench: ## measure speed and size on this machine (takes minutes)
	cd bench && go run .
