# Knee's build. `make help` lists the targets. `make demo` and `make test` need no preparation.
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
CRD_REF_DOCS_VERSION := v0.3.0
# v5.8.3 requires Go 1.27.
KUSTOMIZE_VERSION := v5.8.2
GOLANGCI_LINT_VERSION := v2.15.0
HELM_VERSION := v4.3.1
HELM_DOCS_VERSION := v1.14.2
CRANE_VERSION := v0.22.1
# A later govulncheck requires a module that is not on the proxy.
GOVULNCHECK_VERSION := v1.8.0
# The database of govulncheck, as a module. `go list -m golang.org/x/vulndb@master` prints the newest version.
VULNDB_VERSION := v0.0.0-20260813214354-9de686e1fb00
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
CRD_REF_DOCS := $(TOOLS)/crd-ref-docs-$(CRD_REF_DOCS_VERSION)
KUSTOMIZE := $(TOOLS)/kustomize-$(KUSTOMIZE_VERSION)
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
HELM := $(TOOLS)/helm-$(HELM_VERSION)
HELM_DOCS := $(TOOLS)/helm-docs-$(HELM_DOCS_VERSION)
GOVULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
CRANE := $(TOOLS)/crane-$(CRANE_VERSION)
SUPPLY_CHAIN := $(TOOLS)/supply-chain
# The other modules of this repository: tools that need other versions of libraries.
MODULES := $(patsubst %/go.mod,%,$(wildcard hack/*/go.mod hack/*/*/go.mod))
APILINT := $(TOOLS)/apilint

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Remove the built files; caches stay (.cache).
	rm -rf $(BIN) $(ROOT)/dist

.PHONY: go
go: # Downloads Go if it is missing or too old.
	@hack/go.sh

##@ Build

PROGRAMS := manager knee-agent kubectl-knee
.PHONY: build
build: go ## Build bin/manager, bin/knee-agent and bin/kubectl-knee, static.
	@mkdir -p $(BIN)
	go build -ldflags '$(LDFLAGS)' -o $(BIN)/ $(PROGRAMS:%=./cmd/%)

.PHONY: generate
generate: $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(HELM_DOCS) ## Regenerate deep copies, CRD, role, the chart's copies and README, docs/api.md and the packages of docs/architecture.md.
	@hack/generate.sh $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(HELM_DOCS) $(ROOT)

.PHONY: manifests
manifests: generate ## The same as generate: the same markers give code and manifests.

##@ Checks

.PHONY: check-workloads
check-workloads: build ## Check a copy of opensearch-benchmark-workloads: WORKLOADS=PATH, OSB=PROGRAM.
	@[ -n "$(WORKLOADS)" ] || { echo "make check-workloads needs WORKLOADS=path/to/opensearch-benchmark-workloads" >&2; exit 2; }
	@for w in nyc_taxis:index geonames:index-append http_logs:index-append big5:index-append; do \
	  echo "== $${w%%:*}"; $(BIN)/kubectl-knee workload "$(WORKLOADS)/$${w%%:*}" --ingest-task "$${w##*:}" --osb "$(or $(OSB),opensearch-benchmark)" || exit 1; \
	done

.PHONY: house
house: go ## Print the size of the code: packages, files, lines, and the longest function, file, line and CEL rule.
	@go run ./hack/house

.PHONY: verify
verify: verify-generate verify-format verify-tidy verify-manifests vet lint verify-licences verify-vulnerabilities ## Check generated files, format, go.mod, manifests, licences, known vulnerabilities; vet; lint.

.PHONY: verify-generate verify-format verify-tidy verify-manifests vet lint verify-licences verify-vulnerabilities
verify-generate: $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(HELM_DOCS)
	@hack/verify-generate.sh $(CONTROLLER_GEN) $(CRD_REF_DOCS) $(HELM_DOCS)
verify-format: go
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	[ -z "$$unformatted" ] || { echo "run gofmt -w on: $$unformatted" >&2; exit 1; }
verify-tidy: go
	go mod tidy -diff
	@for module in $(MODULES); do (cd $$module && go mod tidy -diff) || { echo "run go mod tidy in $$module" >&2; exit 1; }; done
verify-manifests: $(KUSTOMIZE)
	@for overlay in config/default config/namespaced config/embedded config/policies/authors config/prometheus config/samples config/studies/ozone; do \
	  $(KUSTOMIZE) build $$overlay >/dev/null || { echo "kustomize build $$overlay failed" >&2; exit 1; }; done
	@$(KUSTOMIZE) build --load-restrictor LoadRestrictionsNone config/studies/ozone/campaign >/dev/null
vet: go
	@for module in . $(MODULES); do echo "go vet in $$module"; (cd $$module && go vet ./...) || exit 1; done
lint: $(GOLANGCI_LINT) $(APILINT)
	$(APILINT) ./api/...
	@for module in . $(MODULES); do echo "golangci-lint in $$module"; \
	  (cd $$module && $(GOLANGCI_LINT) run --config $(ROOT)/.golangci.yml --allow-serial-runners --timeout 20m ./...) || exit 1; done
verify-licences: $(SUPPLY_CHAIN)
	@$(SUPPLY_CHAIN) licences
verify-vulnerabilities: $(SUPPLY_CHAIN) $(GOVULNCHECK)
	@$(SUPPLY_CHAIN) vulnerabilities -govulncheck $(GOVULNCHECK) -database $(VULNDB_VERSION) -exceptions hack/supply-chain/exceptions.txt

.PHONY: host race-host
host: go images-host cluster-host report-check-host race-host prometheus-host # Installs all that tests and builds need of Debian. Needs root.
race-host:
	@hack/apt.sh test-race gcc=gcc /usr/include/stdio.h=libc6-dev

.PHONY: test
# With GOGC=400 the API servers and the tests use a fifth less CPU time. Many tests wait, so one more package than cores runs
# at a time. The slowest packages come first.
test: go assets cluster-test tools-test ## Run the unit tests and the tests on a real API server; prints the coverage of each package.
	@rm -f $(BIN)/skipped
	GOGC=400 KUBEBUILDER_ASSETS=$(BIN)/k8s KNEE_FAULT_POINTS=$(BIN)/fault-points KNEE_SKIPPED=$(BIN)/skipped go test -cover -p 3 -timeout 30m ./test/faults ./controllers ./test/simulatedfaults ./test/synthetic $$(go list ./... | grep -v -e /test/chaos -e /test/e2e -e /test/monitoring -e /test/gitopsdiff -e /test/chart)
	@cat $(BIN)/fault-points-* # go test prints nothing of tests that pass
	@[ ! -e $(BIN)/skipped ] || cat $(BIN)/skipped

.PHONY: test-faults
test-faults: go assets ## Inject every fault of each call, on a real API server and in a simulated cluster (make test: a sample).
	GOGC=400 KUBEBUILDER_ASSETS=$(BIN)/k8s go test -count=1 -timeout 90m ./test/faults ./test/simulatedfaults -faults.share 1

.PHONY: test-race
test-race: go assets race-host ## Test the packages with concurrency under the race detector; needs root if gcc is missing.
	KUBEBUILDER_ASSETS=$(BIN)/k8s hack/race.sh

.PHONY: test-real
test-real: go images-host ## Run the tests that need a real OpenSearch and the real opensearch-benchmark, as processes on this machine.
	@+$(MAKE) --no-print-directory -j3 image-opensearch image-packages
	OSB_VERSION=$(OSB_VERSION) hack/test-real.sh $(call image_tar,$(OPENSEARCH_IMAGE))

FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: go ## Run every fuzz target for FUZZTIME (20s).
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: fuzz-third
fuzz-third: go ## Run a third of the fuzz targets for FUZZTIME (20s): another third for each commit.
	@hack/fuzz.sh $(FUZZTIME) third

RUNS ?= 200
SCENARIO ?=
.PHONY: bench-synthetic
bench-synthetic: go ## Sweep a synthetic OpenSearch RUNS times (200) for each scenario (or SCENARIO=name); prints how often its known knee is found.
	go test ./test/synthetic -count=1 -timeout 120m -v -run '^TestStudies_knownKnee_isFound$$' -synthetic.runs $(RUNS) -synthetic.scenario '$(SCENARIO)' | grep -v -e '^ *=== ' -e '^ *--- PASS'

.PHONY: report-studies
report-studies: go ## Write the reports of the five studies from their published figures to dist/studies; fails if a figure is not reproduced.
	go run ./hack/report-studies -out $(ROOT)/dist/studies

.PHONY: verify-operator
verify-operator: go assets ## Check Knee's objects for the opensearch-k8s-operator against its CRD files: CRD="path...".
	@[ -n "$(CRD)" ] || { echo "make verify-operator needs CRD=path of the operator's CRD of kind OpenSearchCluster" >&2; exit 1; }
	KUBEBUILDER_ASSETS=$(BIN)/k8s go run ./hack/verify-operator $(CRD)

.PHONY: test-argocd update-argocd
test-argocd: go assets ## Test the files for Argo CD in config/argocd, and the status and diff of campaigns, with Argo CD's and Flux's own code.
	@rm -rf $(BIN)/stages
	GOGC=400 KUBEBUILDER_ASSETS=$(BIN)/k8s KNEE_GITOPS_STAGES=$(BIN)/stages go test -count=1 -timeout 20m ./test/gitops ./test/gitopsdiff
	cd hack/argocd && KNEE_GITOPS_STAGES=$(BIN)/stages go test -vet=off -count=1 ./...
update-argocd: go # Writes the generated files in config/argocd.
	go test -count=1 ./test/gitops -update
	cd hack/argocd && go test -vet=off -count=1 -run '^TestPatch_|^TestHealth_eachState_' . -update

REPORT_CHECK_DIR ?= $(ROOT)/.cache/report-check
.PHONY: report-check report-check-host report-check-test
report-check: go ## Open REPORT=path/to/report.html in headless Chromium at every size, light, dark and on paper; needs root if Chromium is missing.
	@[ -n "$(REPORT)" ] || { echo "make report-check needs REPORT=path/to/report.html" >&2; exit 1; }
	@$(MAKE) --no-print-directory report-check-test
	cd hack/report-check && go build -o $(BIN)/report-check .
	$(BIN)/report-check -out $(REPORT_CHECK_DIR) $(abspath $(REPORT))
report-check-host:
	@hack/apt.sh report-check chromium=chromium /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf=fonts-dejavu-core
report-check-test: go report-check-host # Tests the check itself. Without Chromium these tests would be skipped.
	cd hack/report-check && go test ./...

.PHONY: test-prometheus prometheus-host
prometheus-host:
	@hack/apt.sh test-prometheus prometheus=prometheus
test-prometheus: go assets prometheus-host ## Let a real Prometheus scrape the manager, and query every expression of alerts and dashboard; needs root if it is missing.
	KUBEBUILDER_ASSETS=$(BIN)/k8s go test -count=1 -timeout 10m ./test/monitoring

.PHONY: test-chart
test-chart: go assets $(HELM) $(KUSTOMIZE) ## Compare the objects of the Helm chart with those of config, and test its values on a real API server.
	KUBEBUILDER_ASSETS=$(BIN)/k8s KNEE_HELM=$(HELM) KNEE_KUSTOMIZE=$(KUSTOMIZE) go test -count=1 -timeout 10m ./test/chart

include hack/cluster/cluster.mk
include hack/images/images.mk
include hack/bench/bench.mk
$(BIN)/knee-cluster: | go

.PHONY: assets
assets: $(BIN)/knee-cluster # The programs that tests on a real API server start: bin/k8s.

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
deploy: $(KUSTOMIZE) ## Install Knee on the embedded cluster (OVERLAY=config/default: on the cluster of your kubectl).
	$(install_knee)

define install_knee
$(KUSTOMIZE) build $(OVERLAY) | sed "s/: BUILD$$/: b$$(sha256sum $(BIN)/manager 2>/dev/null | cut -c 1-16)/" | $(KUBECTL) apply --server-side --force-conflicts -f -
$(KUBECTL) -n knee-system rollout status deployment/knee-manager --timeout=120s
endef

.PHONY: undeploy
undeploy: $(KUSTOMIZE) ## Remove Knee, its CRD and so every campaign.
	$(KUSTOMIZE) build $(OVERLAY) | $(KUBECTL) delete --ignore-not-found --timeout=300s -f -

.PHONY: demo
demo: export OPENSEARCH_MORE_VERSIONS =
demo: deploy ## Run a real campaign on the embedded cluster and show its result.
	hack/demo.sh

.PHONY: study-ozone
# Builds only the images that the study needs: neither OpenSearch nor opensearch-benchmark.
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
SHORT ?=
.PHONY: test-chaos
test-chaos: export OPENSEARCH_MORE_VERSIONS =
test-chaos: deploy ## Run a campaign on the embedded cluster while faults are injected (SEED=0: a new seed); at most 30 minutes. SHORT=1: a smaller one.
	CLUSTER_DIR=$(CLUSTER_DIR) go test -timeout 40m -count=1 -v ./test/chaos -chaos.seed $(SEED) $(if $(SHORT),-chaos.short)

.PHONY: test-chaos-short
test-chaos-short: SHORT = 1
test-chaos-short: SEED = 15887
test-chaos-short: test-chaos ## Run test-chaos with SHORT=1 and a fixed seed, whose faults are of all groups.

SAMPLES ?=
.PHONY: samples-run
samples-run: deploy image-fakes ## Run the samples (or SAMPLES=minimal,demo), scaled down by config/samples-run, on the embedded cluster to their verdicts.
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(call image_tar,$(FAKES_IMAGE))
	go run ./hack/samples-run -kubeconfig $(CLUSTER_DIR)/kubeconfig -samples '$(SAMPLES)'

# tool PACKAGE VERSION builds a tool from the module proxy. The file name has the version, so a new pin is a new build.
define tool
@echo "building $(notdir $@)" >&2
@mkdir -p $(TOOLS)/.new
@GOBIN=$(TOOLS)/.new go install -ldflags='-s -w' $(1)@$(2)
@mv $(TOOLS)/.new/$(notdir $(1:%/v5=%)) $@
endef

$(CONTROLLER_GEN): | go
	$(call tool,sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_GEN_VERSION))
$(CRD_REF_DOCS): | go
	$(call tool,github.com/elastic/crd-ref-docs,$(CRD_REF_DOCS_VERSION))
$(KUSTOMIZE): | go
	$(call tool,sigs.k8s.io/kustomize/kustomize/v5,$(KUSTOMIZE_VERSION))
$(GOLANGCI_LINT): | go
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION))
$(HELM): | go
	$(call tool,helm.sh/helm/v4/cmd/helm,$(HELM_VERSION))
$(HELM_DOCS): | go
	$(call tool,github.com/norwoodj/helm-docs/cmd/helm-docs,$(HELM_DOCS_VERSION))
$(GOVULNCHECK): | go
	$(call tool,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION))
$(CRANE): | go
	$(call tool,github.com/google/go-containerregistry/cmd/crane,$(CRANE_VERSION))
$(APILINT): $(wildcard hack/apilint/*.go hack/apilint/go.*) | go
	cd hack/apilint && go build -o $@ .
$(SUPPLY_CHAIN): $(wildcard hack/supply-chain/*.go hack/supply-chain/go.*) | go
	cd hack/supply-chain && go build -o $@ .

.PHONY: tools-test
tools-test: go
	cd hack/supply-chain && go test ./...
	cd hack/images/mkimage && go test ./...

##@ Benchmarks

.PHONY: bench-gap
bench-gap: deploy ## Measure the idle time between two trials of a cell, with Knee and with a bare loop of Jobs.
	go run ./hack/bench-gap

.PHONY: bench-adaptive
bench-adaptive: go ## Compare adaptive sweeps with full ones by simulation: trials taken, knees found.
	go run ./hack/bench-simulation adaptive

.PHONY: bench-coverage
bench-coverage: go ## Measure by simulation how often intervals and the stability of knees are right.
	go run ./hack/bench-simulation coverage

ORACLE := $(ROOT)/.cache/oracle
ORACLE_FLAGS ?=
.PHONY: oracle
$(ORACLE)/installed: hack/oracle/requirements.txt
	python3 -m venv $(ORACLE)
	$(ORACLE)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@
oracle: $(ORACLE)/installed go ## Compute the expected values of internal/verdict again in Python; fails if they differ from testdata (ORACLE_FLAGS=--write: replace testdata) or from the Go code.
	$(ORACLE)/bin/python -B hack/oracle/main.py $(ORACLE_FLAGS)
	go test -count=1 -run '^TestOracle_' ./internal/verdict/stats ./internal/verdict/sweep ./internal/verdict/campaign

MUTANTS ?=
.PHONY: mutate
mutate: go ## Change the code of verdict and decide in one place at a time and run the tests, which must notice at least 95 % (MUTANTS=regexp: only these); 5 minutes.
	go run ./hack/mutate -only '$(MUTANTS)'

##@ Embedded cluster

.PHONY: cluster-images
# The packages of the host are installed one after the other, because apt locks. Then the two long builds run in parallel.
cluster-images: go cluster-host images-host ## Start the embedded cluster and import the images.
	@+$(MAKE) --no-print-directory -j2 cluster-up images
	$(BIN)/knee-cluster import --dir $(CLUSTER_DIR) $(IMAGE_TARS)
