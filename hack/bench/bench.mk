# The loader's benchmarks. The root Makefile, which includes this, sets ROOT and BIN.
BENCH_BIN := $(BIN)/bench
BENCH_ARGS ?=

##@ Loader benchmarks

.PHONY: bench-programs bench-nginx
bench-programs: go # The bulk indexers of client libraries, and the program that compares them with Knee's loader.
	@mkdir -p $(BENCH_BIN)
	cd $(ROOT)/hack/bench && go build -o $(BENCH_BIN)/ ./goelasticsearch ./opensearchgo
	go build -o $(BENCH_BIN)/ ./hack/bench-loader
bench-nginx:
	@hack/apt.sh bench-loader nginx=nginx-light

.PHONY: bench-loader
bench-loader: build bench-programs bench-nginx ## Compare the loader with the bulk indexers of go-elasticsearch and opensearch-go, at a strict sink and at nginx; 8 minutes.
	$(BENCH_BIN)/bench-loader -agent $(BIN)/knee-agent -clients $(BENCH_BIN) $(BENCH_ARGS)

.PHONY: bench-loader-opensearch
bench-loader-opensearch: build bench-programs images-host image-opensearch image-osb image-workload ## Compare the loader with opensearch-benchmark at a real OpenSearch, as root; 8 minutes.
	hack/bench/opensearch.sh $(BENCH_BIN)/bench-loader $(BIN)/knee-agent $(BENCH_ARGS)
