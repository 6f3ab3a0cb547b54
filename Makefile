# Knee's build. `make help` lists the targets; `make demo` and `make test` need nothing done beforehand.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

ROOT := $(CURDIR)
BIN ?= $(ROOT)/bin
TOOLS := $(BIN)/tools
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# One set of build flags everywhere, so that builds, tests and the linter share the compile cache.
export PATH := $(ROOT)/.cache/go/bin:$(PATH)
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false
export GOWORK := off
LDFLAGS := -s -w -X github.com/knee-bench/knee/internal/version.Version=$(VERSION)

CONTROLLER_GEN_VERSION := v0.23.0
# v5.8.3 wants Go 1.27.
KUSTOMIZE_VERSION := v5.8.2
GOLANGCI_LINT_VERSION := v2.15.0
# A later govulncheck wants a module that the proxy does not have.
GOVULNCHECK_VERSION := v1.8.0
# What govulncheck knows: the database's module. `go list -m golang.org/x/vulndb@master` names the newest.
VULNDB_VERSION := v0.0.0-20260813214354-9de686e1fb00
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
KUSTOMIZE := $(TOOLS)/kustomize-$(KUSTOMIZE_VERSION)
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
SUPPLY_CHAIN := $(TOOLS)/supply-chain

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Remove what was built; caches stay (.cache).
	rm -rf $(BIN) $(ROOT)/dist

.PHONY: go
go: # Fetches Go when it is missing or too old.
	@hack/go.sh

##@ Build

PROGRAMS := manager knee-agent kubectl-knee
.PHONY: build
build: go ## Build bin/manager, bin/knee-agent and bin/kubectl-knee, static.
	@mkdir -p $(BIN)
	go build -ldflags '$(LDFLAGS)' -o $(BIN)/ $(PROGRAMS:%=./cmd/%)

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Regenerate deep copies, CRD, role and docs/api.md.
	@hack/generate.sh $(CONTROLLER_GEN) $(ROOT)

.PHONY: manifests
manifests: generate ## The same as generate: code and manifests come from the same markers.

##@ Checks

.PHONY: check-workloads
check-workloads: build ## Check a copy of opensearch-benchmark-workloads: WORKLOADS=PATH, OSB=PROGRAM.
	@[ -n "$(WORKLOADS)" ] || { echo "name your copy: make check-workloads WORKLOADS=path/to/opensearch-benchmark-workloads" >&2; exit 2; }
	@for w in nyc_taxis:index geonames:index-append http_logs:index-append big5:index-append; do \
	  echo "== $${w%%:*}"; $(BIN)/kubectl-knee workload "$(WORKLOADS)/$${w%%:*}" --ingest-task "$${w##*:}" --osb "$(or $(OSB),opensearch-benchmark)" || exit 1; \
	done

.PHONY: verify
verify: verify-generate verify-format verify-tidy verify-manifests vet lint verify-licences verify-vulnerabilities ## Check generated files, format, go.mod, manifests, licences, known vulnerabilities; vet; lint.

.PHONY: verify-generate verify-format verify-tidy verify-manifests vet lint verify-licences verify-vulnerabilities
verify-generate: $(CONTROLLER_GEN)
	@hack/verify-generate.sh $(CONTROLLER_GEN)
verify-format: go
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	[ -z "$$unformatted" ] || { echo "run gofmt -w on: $$unformatted" >&2; exit 1; }
verify-tidy: go
	go mod tidy -diff
	cd hack/bench && go mod tidy -diff
	cd hack/cluster && go mod tidy -diff
	cd hack/report-check && go mod tidy -diff
	cd hack/supply-chain && go mod tidy -diff
verify-manifests: $(KUSTOMIZE)
	@for overlay in config/default config/namespaced config/embedded config/samples config/studies/ozone; do \
	  $(KUSTOMIZE) build $$overlay >/dev/null || { echo "kustomize build $$overlay failed" >&2; exit 1; }; done
	@$(KUSTOMIZE) build --load-restrictor LoadRestrictionsNone config/studies/ozone/campaign >/dev/null
vet: go
	go vet ./...
lint: $(GOLANGCI_LINT)
	$(GOLANGCI_LINT) run --allow-serial-runners --timeout 10m ./...
verify-licences: $(SUPPLY_CHAIN)
	@$(SUPPLY_CHAIN) licences
verify-vulnerabilities: $(SUPPLY_CHAIN) $(GOVULNCHECK)
	@$(SUPPLY_CHAIN) vulnerabilities -govulncheck $(GOVULNCHECK) -database $(VULNDB_VERSION) -exceptions hack/supply-chain/exceptions.txt

.PHONY: test
# The tests' API servers and the tests themselves collect garbage less often, which takes a fifth of their CPU time. Many
# tests wait: one package more than cores makes use of it. What takes longest begins first.
test: go assets cluster-test supply-chain-test ## Run the unit tests and the tests on a real API server.
	GOGC=400 KUBEBUILDER_ASSETS=$(BIN)/k8s KNEE_FAULT_POINTS=$(BIN)/fault-points go test -p 3 -timeout 15m ./controllers ./test/synthetic $$(go list ./... | grep -v -e /test/chaos -e /test/e2e -e /test/scale)
	@cat $(BIN)/fault-points # go test shows nothing of what passes

FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: go ## Run every fuzz target for FUZZTIME (20s).
	@hack/fuzz.sh $(FUZZTIME)

RUNS ?= 200
SCENARIO ?=
.PHONY: bench-synthetic
bench-synthetic: go ## Sweep a synthetic OpenSearch RUNS times (200) a scenario (SCENARIO=name: that one); prints how often its known knee is found.
	go test ./test/synthetic -count=1 -timeout 120m -v -run '^TestKnownKneeIsFound$$' -synthetic.runs $(RUNS) -synthetic.scenario '$(SCENARIO)' | grep -v -e '^ *=== ' -e '^ *--- PASS'

.PHONY: report-studies
report-studies: go ## Write the reports of the five studies from their published figures to dist/studies; fails where one is not reproduced.
	go run ./hack/report-studies -out $(ROOT)/dist/studies

.PHONY: verify-operator
verify-operator: go assets ## Check what Knee emits for the opensearch-k8s-operator against its CRD files: CRD="path...".
	@[ -n "$(CRD)" ] || { echo "make verify-operator needs CRD=path of the operator's CRD of kind OpenSearchCluster" >&2; exit 1; }
	KUBEBUILDER_ASSETS=$(BIN)/k8s go run ./hack/verify-operator $(CRD)

REPORT_CHECK_DIR ?= $(ROOT)/.cache/report-check
.PHONY: report-check report-check-host report-check-test
report-check: go ## Open REPORT=path/to/report.html in headless Chromium at every size, light, dark and on paper; needs root if Chromium is missing.
	@[ -n "$(REPORT)" ] || { echo "make report-check needs REPORT=path/to/report.html" >&2; exit 1; }
	@$(MAKE) --no-print-directory report-check-test
	cd hack/report-check && go build -o $(BIN)/report-check .
	$(BIN)/report-check -out $(REPORT_CHECK_DIR) $(abspath $(REPORT))
report-check-host:
	@command -v chromium >/dev/null || hack/report-check/ensure-host.sh
report-check-test: go report-check-host # What the check itself finds and does not find; without Chromium its tests would be skipped.
	cd hack/report-check && go test ./...

include hack/cluster/cluster.mk
include hack/images/images.mk
include hack/bench/bench.mk
$(BIN)/knee-cluster: | go

.PHONY: assets
assets: $(BIN)/knee-cluster # What the tests on a real API server start: bin/k8s.

##@ Running Knee

OVERLAY ?= config/embedded
ifeq ($(OVERLAY),config/embedded)
export KUBECONFIG := $(CLUSTER_DIR)/kubeconfig
KUBECTL := $(BIN)/k8s/kubectl
deploy: cluster-images
else
KUBECTL ?= kubectl
endif

.PHONY: deploy
deploy: $(KUSTOMIZE) ## Install Knee on the embedded cluster (OVERLAY=config/default: on your kubectl's cluster).
	$(install_knee)

define install_knee
$(KUSTOMIZE) build $(OVERLAY) | sed "s/: BUILD$$/: b$$(sha256sum $(BIN)/manager 2>/dev/null | cut -c 1-16)/" | $(KUBECTL) apply --server-side --force-conflicts -f -
$(KUBECTL) -n knee-system rollout status deployment/knee-manager --timeout=120s
endef

.PHONY: undeploy
undeploy: $(KUSTOMIZE) ## Remove Knee, and with its CRD every campaign.
	$(KUSTOMIZE) build $(OVERLAY) | $(KUBECTL) delete --ignore-not-found --timeout=300s -f -

.PHONY: demo
demo: export OPENSEARCH_MORE_VERSIONS =
demo: deploy ## Run a real campaign on the embedded cluster and show what it finds.
	hack/demo.sh

.PHONY: study-ozone
# Only the images that the study needs: neither OpenSearch nor opensearch-benchmark.
study-ozone: go cluster-host images-host $(KUSTOMIZE) ## Compare two real releases of Ozone under freon on the embedded cluster; about 20 minutes.
	@+$(MAKE) --no-print-directory -j2 cluster-up image-knee image-ozone image-prometheus
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(call image_tar,$(KNEE_IMAGE)) $(OZONE_VERSIONS:%=$(call image_tar,knee.local/ozone:%)) $(call image_tar,$(PROMETHEUS_IMAGE))
	$(install_knee)
	CLUSTER_DIR=$(CLUSTER_DIR) KUSTOMIZE=$(KUSTOMIZE) hack/study-ozone.sh

.PHONY: test-e2e
test-e2e: deploy report-check-test image-fakes ## Run real campaigns on the embedded cluster.
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(call image_tar,$(FAKES_IMAGE))
	CLUSTER_DIR=$(CLUSTER_DIR) go test -timeout 70m -count=1 -v ./test/e2e/...

SEED ?= 0
.PHONY: test-chaos
test-chaos: deploy ## Run a campaign on the embedded cluster while a seeded monkey kills what it can (SEED=0: a new one); 15 to 20 minutes.
	CLUSTER_DIR=$(CLUSTER_DIR) go test -timeout 60m -count=1 -v ./test/chaos -chaos.seed $(SEED)

SAMPLES ?=
.PHONY: samples-run
samples-run: deploy image-fakes ## Run every sample, scaled down by config/samples-run, on the embedded cluster to its verdict (SAMPLES=minimal,demo: those).
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(call image_tar,$(FAKES_IMAGE))
	go run ./hack/samples-run -kubeconfig $(CLUSTER_DIR)/kubeconfig -samples '$(SAMPLES)'

# tool PACKAGE VERSION: builds it from the module proxy; its name carries the version, so a new pin builds anew.
define tool
@echo "building $(notdir $@)" >&2
@mkdir -p $(TOOLS)/.new
@GOBIN=$(TOOLS)/.new go install -ldflags='-s -w' $(1)@$(2)
@mv $(TOOLS)/.new/$(notdir $(1:%/v5=%)) $@
endef

$(CONTROLLER_GEN): | go
	$(call tool,sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_GEN_VERSION))
$(KUSTOMIZE): | go
	$(call tool,sigs.k8s.io/kustomize/kustomize/v5,$(KUSTOMIZE_VERSION))
$(GOLANGCI_LINT): | go
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION))
$(GOVULNCHECK): | go
	$(call tool,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION))
$(SUPPLY_CHAIN): $(wildcard hack/supply-chain/*.go hack/supply-chain/go.*) | go
	cd hack/supply-chain && go build -o $@ .

.PHONY: supply-chain-test
supply-chain-test: go
	cd hack/supply-chain && go test ./...

##@ Benchmarks

.PHONY: bench-gap
bench-gap: deploy ## Measure the idle time between two trials of a cell, with Knee and with a bare loop of Jobs.
	go run ./hack/bench-gap

.PHONY: bench-adaptive
bench-adaptive: go ## Simulate adaptive sweeps beside full ones: trials taken, knees found.
	go run ./hack/bench-adaptive

.PHONY: bench-coverage
bench-coverage: go ## Simulate whether intervals and the stability of knees hold as often as they say.
	go run ./hack/bench-coverage

##@ Embedded cluster

.PHONY: cluster-images
# The host's packages one after the other, since apt locks; then the two long builds side by side.
cluster-images: go cluster-host images-host ## Start the embedded cluster and give it the images.
	@+$(MAKE) --no-print-directory -j2 cluster-up images
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(IMAGE_TARS)
