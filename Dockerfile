# Knee: the operator, and the agent that an init container copies into trials
# (/knee-agent install DESTINATION). Static binaries, their licences and their bill of materials, and nothing else.
#
# All is made beforehand in dist/linux/ARCH (make image-knee IMAGE_ARCH=ARCH), so that this file serves docker buildx and
# hack/images/mkimage alike. `make push` builds and pushes the image for amd64 and arm64 without a container engine.
FROM scratch
ARG TARGETARCH
COPY --chmod=0555 dist/linux/${TARGETARCH}/manager dist/linux/${TARGETARCH}/knee-agent /
COPY --chmod=0444 LICENSE dist/linux/${TARGETARCH}/THIRD-PARTY-NOTICES dist/linux/${TARGETARCH}/sbom.cdx.json /licenses/
LABEL org.opencontainers.image.title=knee org.opencontainers.image.licenses=Apache-2.0
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/manager"]
