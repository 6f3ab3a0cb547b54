# Knee: the operator, and the agent that an init container copies into trials
# (/knee-agent install DESTINATION). Static binaries, their licences and their bill of materials, and nothing else.
#
# All is made beforehand in dist/linux/ARCH, so that this file
# serves docker buildx and hack/images/mkimage alike:
#   make images
#   docker buildx build --platform linux/amd64,linux/arm64 .
FROM scratch
ARG TARGETARCH
COPY --chmod=0555 dist/linux/${TARGETARCH}/manager dist/linux/${TARGETARCH}/knee-agent /
COPY --chmod=0444 LICENSE dist/linux/${TARGETARCH}/THIRD-PARTY-NOTICES dist/linux/${TARGETARCH}/sbom.cdx.json /licenses/
LABEL org.opencontainers.image.title=knee org.opencontainers.image.licenses=Apache-2.0
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/manager"]
