# Images from package registries, without a container engine. Included by the
# root Makefile, which sets ROOT and BIN and has the target `build`.
# The archives are .cache/images/NAME-TAG-ARCH.tar: import them with
# `ctr -n k8s.io images import`. Name other images to use those instead.
ROOT ?= $(CURDIR)
BIN ?= $(ROOT)/bin
IMAGE_ARCH ?= $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(shell uname -m)))
KNEE_IMAGE ?= knee.local/knee:dev
OPENSEARCH_VERSION ?= 3.1.0
OPENSEARCH_IMAGE ?= knee.local/opensearch:$(OPENSEARCH_VERSION)
# More versions: 3.4.0 has the security plugin, 3.8.0 the stream transport and the Benchmark API. make demo does not build them.
OPENSEARCH_MORE_VERSIONS ?= 3.4.0 3.8.0
OPENSEARCH_MORE = $(filter-out $(OPENSEARCH_IMAGE:knee.local/opensearch:%=%),$(OPENSEARCH_MORE_VERSIONS))
OSB_VERSION ?= 2.4.0
OSB_IMAGE ?= knee.local/opensearch-benchmark:$(OSB_VERSION)
WORKLOAD_IMAGE ?= knee.local/workload-nyc-taxis-mini:1
FAKES_IMAGE = knee.local/fakes:1
OZONE_VERSIONS ?= 2.2.0 2.2.1
PROMETHEUS_IMAGE = knee.local/prometheus:bookworm

IMAGES_ENV = ARCH=$(IMAGE_ARCH)
IMAGES_DIR = $(ROOT)/hack/images
# Only images named knee.local/ are built. The cluster pulls any other image.
BUILT_IMAGES = $(filter knee.local/%,$(KNEE_IMAGE) $(OPENSEARCH_IMAGE) $(OSB_IMAGE) $(WORKLOAD_IMAGE) $(OPENSEARCH_MORE:%=knee.local/opensearch:%))
image_tar = $(or $(KNEE_CACHE),$(ROOT)/.cache)/images/$(notdir $(subst :,-,$(1)))-$(IMAGE_ARCH).tar
IMAGE_TARS = $(foreach image,$(BUILT_IMAGES),$(call image_tar,$(image)))

##@ Images

.PHONY: images
images: images-host ## Build the container images into .cache/images (no container engine needed).
	@+$(MAKE) --no-print-directory -j4 \
	  $(if $(filter $(KNEE_IMAGE),$(BUILT_IMAGES)),image-knee) \
	  $(if $(filter $(OPENSEARCH_IMAGE),$(BUILT_IMAGES)),image-opensearch) \
	  $(OPENSEARCH_MORE:%=image-opensearch-%) \
	  $(if $(filter $(OSB_IMAGE),$(BUILT_IMAGES)),image-osb) \
	  $(if $(filter $(WORKLOAD_IMAGE),$(BUILT_IMAGES)),image-workload)

.PHONY: images-host image-rootfs image-tools image-jre image-packages
images-host:
	@$(ROOT)/hack/apt.sh images mmdebstrap=mmdebstrap python3=python3 pip3=python3-pip mvn=maven curl=curl
# The slow parts wait for registries, so they run in parallel.
image-tools:
	@$(IMAGES_ENV) $(IMAGES_DIR)/tools.sh
image-rootfs:
	@$(IMAGES_ENV) $(IMAGES_DIR)/rootfs/build.sh
image-jars-%:
	@$(IMAGES_ENV) OPENSEARCH_VERSION=$* $(IMAGES_DIR)/opensearch/jars.sh
image-jre: image-rootfs # a local JDK is tested with the root file system
	@$(IMAGES_ENV) $(IMAGES_DIR)/opensearch/jre.sh
image-packages:
	@$(IMAGES_ENV) OSB_VERSION=$(OSB_VERSION) $(IMAGES_DIR)/opensearch-benchmark/packages.sh

.PHONY: sbom
sbom: image-knee ## Write the bill of materials (CycloneDX) and the licences of Knee's image, which has them in /licenses.
	@echo "$(ROOT)/dist/linux/$(IMAGE_ARCH)/sbom.cdx.json"
	@echo "$(ROOT)/dist/linux/$(IMAGE_ARCH)/THIRD-PARTY-NOTICES"

.PHONY: image-knee image-opensearch image-osb image-workload image-fakes
image-knee: build image-tools ## Build Knee's own image.
	@$(IMAGES_ENV) LDFLAGS='$(LDFLAGS)' $(IMAGES_DIR)/knee/build.sh $(KNEE_IMAGE) $(BIN)

# Without a container engine. The logins of docker or podman apply.
.PHONY: push push-test
push: $(CRANE) ## Build Knee's image for amd64 and arm64, and push it to a registry (KNEE_IMAGE=REGISTRY/knee:TAG).
	@case "$(KNEE_IMAGE)" in \
	  knee.local/*) echo "make push needs KNEE_IMAGE=REGISTRY/knee:TAG" >&2; exit 2 ;; *[/]*:*) ;; \
	  *) echo "make push: KNEE_IMAGE=$(KNEE_IMAGE) must have a registry and a tag, as in REGISTRY/knee:TAG" >&2; exit 2 ;; esac
	@for arch in $(PUSHED); do $(MAKE) --no-print-directory image-knee IMAGE_ARCH=$$arch; done
	@$(IMAGES_DIR)/knee/push.sh $(CRANE) $(KNEE_IMAGE) $(foreach IMAGE_ARCH,$(PUSHED),$(call image_tar,$(KNEE_IMAGE)))
push-test: $(CRANE) go # Pushes to a registry on this machine, and runs the arm64 agent of the pushed image.
	@$(ROOT)/hack/apt.sh push-test qemu-aarch64-static=qemu-user-static
	@CRANE=$(CRANE) $(IMAGES_DIR)/knee/push_test.sh
PUSHED = amd64 arm64

image-opensearch: image-tools image-rootfs image-jars-$(OPENSEARCH_VERSION) image-jre ## Build the OpenSearch image.
	@$(IMAGES_ENV) OPENSEARCH_VERSION=$(OPENSEARCH_VERSION) $(IMAGES_DIR)/opensearch/build.sh $(OPENSEARCH_IMAGE)
image-opensearch-%: image-tools image-rootfs image-jars-% image-jre # another version, if opensearch/jars-VERSION.lock is there
	@$(IMAGES_ENV) OPENSEARCH_VERSION=$* $(IMAGES_DIR)/opensearch/build.sh knee.local/opensearch:$*
image-osb: image-tools image-rootfs image-packages ## Build the opensearch-benchmark image (OSB_VERSION=1.15.0 for the older command line).
	@$(IMAGES_ENV) OSB_VERSION=$(OSB_VERSION) $(IMAGES_DIR)/opensearch-benchmark/build.sh $(OSB_IMAGE)
image-workload: image-tools ## Build the image with the demo's workload and corpus.
	@$(IMAGES_ENV) $(IMAGES_DIR)/workload/build.sh $(WORKLOAD_IMAGE)
image-fakes: image-tools # the fakes of the end-to-end tests; no campaign needs them
	@$(IMAGES_ENV) $(IMAGES_DIR)/fakes/build.sh $(FAKES_IMAGE)

.PHONY: image-ozone image-prometheus
image-ozone: image-tools image-rootfs image-jre ## Build the images of Apache Ozone for `make study-ozone` (OZONE_VERSIONS="2.2.0 2.2.1").
	@for version in $(OZONE_VERSIONS); do $(IMAGES_ENV) OZONE_VERSION=$$version $(IMAGES_DIR)/ozone/build.sh knee.local/ozone:$$version || exit; done
image-prometheus: image-tools image-rootfs # for `make study-ozone`
	@$(IMAGES_ENV) $(IMAGES_DIR)/prometheus/build.sh $(PROMETHEUS_IMAGE)

.PHONY: images-check
images-check: images ## Run the images: OpenSearch until it is green, a short load, and failing starts.
	@$(IMAGES_ENV) OPENSEARCH_VERSION=$(OPENSEARCH_VERSION) OSB_VERSION=$(OSB_VERSION) $(IMAGES_DIR)/check.sh

STREAM_IMAGE = knee.local/opensearch:3.8.0
STREAM_UNPACKED = $(or $(KNEE_CACHE),$(ROOT)/.cache)/stream-benchmark/image
.PHONY: plugin plugin-test
plugin: images-host image-jre ## Build the OpenSearch plugin stream-benchmark and run its unit tests.
	@$(IMAGES_ENV) $(ROOT)/plugins/stream-benchmark/build.sh
	@echo "$(or $(KNEE_CACHE),$(ROOT)/.cache)/stream-benchmark/stream-benchmark.zip"
plugin-test: images-host image-opensearch-3.8.0 ## Test the plugin on real nodes, three processes of its image.
	@rm -rf $(STREAM_UNPACKED)
	@python3 $(IMAGES_DIR)/bundle.py $(call image_tar,$(STREAM_IMAGE)) $(STREAM_UNPACKED)
	KNEE_STREAM_OPENSEARCH=$(STREAM_UNPACKED)/rootfs/usr/share/opensearch go test -timeout 30m -count=1 -v ./test/streambenchmark
