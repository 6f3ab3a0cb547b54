# The embedded cluster. The including Makefile sets ROOT (the checkout) and BIN.
CLUSTER_DIR ?= $(ROOT)/.cluster
CLUSTER_SOURCES := $(shell find $(ROOT)/hack/cluster -type f \( -name '*.go' -o -name 'go.*' -o -path '*/config/*' \) -not -name '*_test.go' -not -path '*/check/*') \
	$(ROOT)/hack/cluster/build.sh

# Minutes when the Go build cache is cold, seconds otherwise, nothing when no source changed.
$(BIN)/knee-cluster: $(CLUSTER_SOURCES)
	$(ROOT)/hack/cluster/build.sh $(BIN)

.PHONY: cluster-binary
cluster-binary: $(BIN)/knee-cluster ## Build the embedded cluster, which is also envtest's assets (bin/k8s).

.PHONY: cluster-host
cluster-host: ## Install what the embedded cluster needs of the host (as root, with apt).
	$(ROOT)/hack/cluster/ensure-host.sh

.PHONY: cluster-up
cluster-up: $(BIN)/knee-cluster cluster-host ## Start the embedded cluster (KUBECONFIG=.cluster/kubeconfig).
	$(BIN)/knee-cluster up --dir $(CLUSTER_DIR)

.PHONY: cluster-down
cluster-down: ## Stop the embedded cluster; its state is kept (bin/knee-cluster down --wipe deletes it).
	@if [ -x $(BIN)/knee-cluster ]; then $(BIN)/knee-cluster down --dir $(CLUSTER_DIR); else echo "no embedded cluster was built"; fi

# -trimpath and CGO_ENABLED as in build.sh, whose compiled packages are used again.
# Vet is left out: it would analyse the whole of Kubernetes first, which takes minutes.
.PHONY: cluster-test
cluster-test: ## Run the unit tests of the embedded cluster.
	cd $(ROOT)/hack/cluster && GOWORK=off CGO_ENABLED=0 go test -vet=off -trimpath ./internal/...

.PHONY: cluster-check
cluster-check: cluster-up ## Prove that the cluster works, and that one leaves nothing on the host.
	$(ROOT)/hack/cluster/check.sh $(CLUSTER_DIR)
	$(ROOT)/hack/cluster/check/host.sh
