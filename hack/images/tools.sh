#!/bin/bash
# Builds the Go programs that make the images, once per change.
source "$(dirname "$0")/lib.sh"
for name in mkimage workload/corpus; do tool "$name" > /dev/null; done
