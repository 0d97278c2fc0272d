# Everything a developer or a CI machine does with this repository. It needs Go, make, git and bash; all other tools are
# built from Go modules into .tools, at the versions below, when they are first used.

CONTROLLER_GEN_VERSION := v0.23.0
CRD_REF_DOCS_VERSION   := v0.3.0
GOLANGCI_LINT_VERSION  := v2.15.0
# Kubernetes and kwok, for tests: see test/kubernetes/go.mod and test/controlplane/assets.

# How long `make fuzz` spends on each target.
FUZZTIME ?= 30s

SHELL         := /bin/bash
.SHELLFLAGS   := -euo pipefail -c
MAKEFLAGS     += --no-print-directory
.DEFAULT_GOAL := help

TOOLS     := $(CURDIR)/.tools
ARTIFACTS := $(CURDIR)/.artifacts
BIN       := $(ARTIFACTS)/bin

# The version is in the folder and not in the file: controller-gen writes what it is called into what it generates.
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)/controller-gen
CRD_REF_DOCS   := $(TOOLS)/crd-ref-docs-$(CRD_REF_DOCS_VERSION)/crd-ref-docs
GOLANGCI_LINT  := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
REPORT         := $(BIN)/report

# The race detector needs a C compiler, which not every machine has.
RACE       := $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC)" >/dev/null && echo -race)
TEST_FLAGS := -shuffle=on $(RACE)

# Packages with a suite_test.go need more than Go; the tests of all others run in one lane. $(1) are patterns of packages.
suites           = $(shell go list -e -f '{{range .TestGoFiles}}$(if-suite){{end}}{{range .XTestGoFiles}}$(if-suite){{end}}' $(1))
if-suite         = {{if eq . "suite_test.go"}}{{$$.ImportPath}}{{"\n"}}{{end}}
PACKAGES         = $(shell go list -e -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... ./.ci/report)
UNIT_PACKAGES    = $(filter-out $(call suites,./test/...),$(PACKAGES))
ENVTEST_PACKAGES = $(call suites,./test/controlplane ./test/envtest/...)
DESIGNATE_PACKAGES = $(call suites,./test/designate/...)

GENERATED := api/v1alpha1/zz_generated.deepcopy.go api/v1alpha1/applyconfiguration config/crd/bases \
             config/rbac/role.yaml config/webhook/manifests.yaml docs/api.md

##@ General

.PHONY: help
help: ## Show what can be made
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z0-9-]*:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(BIN)/manager $(BIN)/poolctl ## Build the operator and poolctl into .artifacts/bin

.PHONY: demo
demo: control-plane $(BIN)/manager $(BIN)/demo ## Show the main job on a control plane of its own; DEMO=once ends by itself
	@exec $(BIN)/demo --manager $(BIN)/manager $(if $(filter once,$(DEMO)),--once)

.PHONY: clean
clean: ## Remove what builds and tests left; the tools stay
	rm -rf $(ARTIFACTS)

##@ Generated files

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate Go code from the API types
	$(CONTROLLER_GEN) object applyconfiguration:headerFile=/dev/null paths=./api/...

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate CRDs, the operator's roles and its webhooks from the markers in the code
	$(CONTROLLER_GEN) crd:generateEmbeddedObjectMeta=false paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=designate-pool-operator webhook \
	  paths=./cmd/manager/... paths=./controllers/... paths=./webhooks/... \
	  output:rbac:dir=config/rbac output:webhook:dir=config/webhook

.PHONY: api-docs
api-docs: $(CRD_REF_DOCS) ## Generate docs/api.md from the API types
	@mkdir -p docs
	$(CRD_REF_DOCS) --source-path=api/v1alpha1 --config=.crd-ref-docs.yaml --renderer=markdown --output-path=docs/api.md

##@ Checks

.PHONY: verify
verify: ## Check that generated files are up to date, that the code is formatted, vetted and its modules tidy
	@hashes() { { find $(GENERATED) -type f -exec sha256sum {} + || true; } | sort -k 2; }; \
	before=$$(hashes); \
	$(MAKE) generate manifests api-docs; \
	changed=$$({ diff <(echo "$$before") <(hashes) || true; } | sed -n 's/^[<>] [0-9a-f]* *//p' | sort -u); \
	[ -z "$$changed" ] || { echo "Generated files were out of date. They are up to date now, commit them:"; echo "$$changed"; exit 1; }
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard -- '*.go')); \
	[ -z "$$unformatted" ] || { echo "Not formatted by gofmt:"; echo "$$unformatted"; exit 1; }
	go vet ./... ./.ci/report
	go mod tidy -diff

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check style and common mistakes
	$(GOLANGCI_LINT) run ./... ./.ci/report

##@ Tests

# All lanes, those that take longest first. Each needs its target below, and .ci/run finds out whether it ran.
LANES := test-designate test-e2e test-envtest test-unit

# Two at a time: with more, a machine of two cores is too slow for servers with timeouts of their own. What a lane says comes
# when it is over.
.PHONY: test
test: ## Run all tests (root, Debian 12: see test-e2e), two lanes at a time
	@$(MAKE) --jobs=2 --keep-going --output-sync=target $(LANES)

.PHONY: test-unit
test-unit: $(REPORT) ## Run the tests that need nothing but Go, and the seeds of the fuzz targets
	go test -json $(TEST_FLAGS) $(UNIT_PACKAGES) | $(REPORT) --lane unit

.PHONY: test-envtest
test-envtest: control-plane $(REPORT) ## Run the suites that need a control plane
	$(call run-suites,$(ENVTEST_PACKAGES))

# There is no way out of Designate's network, so everything is downloaded and compiled before.
.PHONY: test-designate
test-designate: control-plane $(REPORT) ## Run the suites that need a real Designate (root, Debian 12)
	go build -o $(BIN)/designate-stack ./test/designate/stack
	go vet $(DESIGNATE_PACKAGES)
	@env -u MAKEFLAGS -u MFLAGS $(BIN)/designate-stack -- $(MAKE) within-designate

.PHONY: within-designate
within-designate:
	$(call run-suites,$(DESIGNATE_PACKAGES))

SUITES ?= suites node

.PHONY: test-e2e
test-e2e: control-plane $(REPORT) ## Run the end-to-end suites on a cluster with real containers (root, Debian 12); SUITES="suites/add" for some
	go build -o $(BIN)/cluster ./test/cluster
	CGO_ENABLED=0 go build -o $(BIN)/probe ./test/e2e/probe
	@rm -f $(ARTIFACTS)/e2e.json
	@ended=0; $(BIN)/cluster $(if $(filter suites suites/designate-%,$(SUITES)),--designate) -- test/e2e/run $(SUITES) || ended=$$?; \
	$(REPORT) --lane e2e --chainsaw $(ARTIFACTS)/e2e.json --ended $$ended --top test/e2e $(SUITES)

# $(1) are packages of ginkgo suites. Each is a lane of its own in the counts, named by its folder, and all are run, also
# after one has failed. Ginkgo's end comes before Go's: it says which spec took so long.
define run-suites
	@mkdir -p $(ARTIFACTS)/specs
	@failed=0; for package in $(1); do \
	  name=$${package#*/test/}; name=$${name//\//-}; specs=$(ARTIFACTS)/specs/$$name.json; rm -f $$specs; \
	  go test -json $(TEST_FLAGS) -timeout 42m $$package -ginkgo.timeout=40m -ginkgo.json-report=$$specs | $(REPORT) --lane $$name --specs $$specs || failed=1; \
	done; exit $$failed
endef

# With each commit another part of them.
SAMPLE ?=

.PHONY: mutate
mutate: $(REPORT) ## Break the code on purpose and see the tests notice; SAMPLE=1/5 for a part
	MUTATE_SAMPLE=$(SAMPLE) go test -json -count=1 -timeout 60m ./test/mutate | $(REPORT) --lane mutate

RACES ?= 200

.PHONY: races
races: control-plane ## Make zones while their pools are removed, RACES times (default 200; root, Debian 12)
	go build -o $(BIN)/designate-stack ./test/designate/stack
	go test -c -o $(BIN)/operator.test ./test/designate/operator
	@cd test/designate/operator && RACES=$(RACES) $(BIN)/designate-stack -- \
	  $(BIN)/operator.test -ginkgo.v -ginkgo.focus="while its pool is removed" -test.timeout=2h

.PHONY: killpoints
killpoints: control-plane ## Kill the operator at each of its writes (an hour), and write docs/killpoints.md (root, Debian 12)
	go build -o $(BIN)/designate-stack ./test/designate/stack
	go test -c -o $(BIN)/killpoints.test ./test/designate/killpoints
	@cd test/designate/killpoints && KILLPOINTS_REPORT=$(CURDIR)/docs/killpoints.md $(BIN)/designate-stack -- \
	  $(BIN)/killpoints.test -ginkgo.timeout=3h -test.timeout=3h

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (default 30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do \
	  grep -oE '^func Fuzz[A-Za-z0-9_]+' $$file | cut -d' ' -f2 | while read -r target; do \
	    echo "$$target in $${file%/*} for $(FUZZTIME)"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $${file%/*}; \
	  done; \
	done

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem $(UNIT_PACKAGES)

##@ Tools

.PHONY: cluster
cluster: ## Open a shell in a one-node cluster with real containers (root, Debian 12)
	go build -o $(BIN)/cluster ./test/cluster
	@exec $(BIN)/cluster

.PHONY: control-plane
control-plane: ## Build etcd, Kubernetes and kwok for tests (minutes, once)
	@go run ./test/controlplane/install

# $(1) is the package of a tool, $(2) its version; the target says where it goes.
define install-tool
	@echo "Building $(@F) $(2) from Go modules, once"
	@mkdir -p $(@D)
	@GOBIN=$(@D) CGO_ENABLED=0 go install $(1)@$(2)
endef

$(CONTROLLER_GEN):
	$(call install-tool,sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_GEN_VERSION))

$(CRD_REF_DOCS):
	$(call install-tool,github.com/elastic/crd-ref-docs,$(CRD_REF_DOCS_VERSION))

$(GOLANGCI_LINT):
	@echo "golangci-lint is large: this takes minutes"
	$(call install-tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION))

# go build knows best whether there is something to do; on a fresh machine this takes minutes.
$(BIN)/manager $(BIN)/poolctl: FORCE
	go build -o $@ ./cmd/$(@F)

$(BIN)/demo: FORCE
	go build -o $@ ./test/demo

$(REPORT): FORCE
	@go build -o $@ ./.ci/report

.PHONY: FORCE
FORCE:
