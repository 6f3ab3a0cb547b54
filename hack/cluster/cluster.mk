# The embedded cluster. The including Makefile sets ROOT (the checkout) and BIN.
CLUSTER_DIR ?= $(ROOT)/.cluster
CLUSTER_SOURCES := $(shell find $(ROOT)/hack/cluster -type f \( -name '*.go' -o -name 'go.*' -o -path '*/config/*' \) -not -name '*_test.go' -not -path '*/check/*') \
	$(ROOT)/hack/cluster/build.sh

# The build takes minutes with a cold Go build cache, and seconds otherwise.
$(BIN)/knee-cluster: $(CLUSTER_SOURCES)
	$(ROOT)/hack/cluster/build.sh $(BIN)

.PHONY: cluster-binary
cluster-binary: $(BIN)/knee-cluster ## Build the embedded cluster and the assets of envtest (bin/k8s).

.PHONY: cluster-host
cluster-host: ## Install the Debian packages that the embedded cluster needs (as root).
	@$(ROOT)/hack/apt.sh "the embedded cluster" containerd=containerd ctr=containerd runc=runc iptables=iptables conntrack=conntrack \
	  nsenter=util-linux mount=mount modprobe=kmod /usr/lib/cni/bridge=containernetworking-plugins

.PHONY: cluster-up
cluster-up: $(BIN)/knee-cluster cluster-host ## Start the embedded cluster (KUBECONFIG=.cluster/kubeconfig).
	$(BIN)/knee-cluster up --dir $(CLUSTER_DIR)

.PHONY: cluster-down
cluster-down: ## Stop the embedded cluster and keep its state (bin/knee-cluster down --wipe deletes it).
	@if [ -x $(BIN)/knee-cluster ]; then $(BIN)/knee-cluster down --dir $(CLUSTER_DIR); else echo "no embedded cluster was built"; fi

# -trimpath and CGO_ENABLED are as in build.sh, so that both share compiled packages.
# There is no vet, because it would first analyse all of Kubernetes for minutes.
.PHONY: cluster-test
cluster-test: ## Run the unit tests of the embedded cluster.
	cd $(ROOT)/hack/cluster && GOWORK=off CGO_ENABLED=0 go test -vet=off -trimpath ./internal/...

.PHONY: cluster-check
cluster-check: cluster-up ## Check that the cluster works and that a cluster leaves nothing on the host.
	$(ROOT)/hack/cluster/check.sh $(CLUSTER_DIR)
	$(ROOT)/hack/cluster/check/host.sh
