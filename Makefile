.PHONY: help run test quick soak soak-nightly slow lint vulncheck bench release release-check

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: ## serve with the demo merchant on http://127.0.0.1:8080
	go run ./cmd/merchant-orders serve --demo

test: ## run every check and test, as CI does
	bash scripts/test

quick: ## run the tests that need only Go, and list the tests left out
	bash scripts/quick

soak: ## run the tests with random faults for hours, or with MINUTES=30 two instances under load
	bash scripts/soak $(if $(MINUTES),-minutes $(MINUTES))

soak-nightly: ## run the soak hour after hour, each with the next seed, until it is stopped
	bash scripts/soak -nightly $(if $(SEED),-seed $(SEED))

slow: ## run all tests three times on one busy processor core
	bash scripts/slow

lint: ## check format, names and common mistakes
	bash scripts/lint

vulncheck: ## look for known vulnerabilities (needs the network: the Go vulnerability database)
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...

bench: ## measure speed and size on this machine (takes minutes)
	cd bench && go run .

release: ## build programs, archives and packages into dist (VERSION=v1.2.3)
	bash scripts/release

release-check: ## build the release twice in two folders and check its files (takes minutes)
	bash scripts/release-check
