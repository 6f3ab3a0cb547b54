#!/bin/bash
# Installs Chromium, and fonts for it, when run as root on Debian; otherwise says in one sentence what to install.
set -euo pipefail
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "report-check: install Debian's packages chromium and fonts-dejavu-core first" >&2
  exit 1
fi
echo "report-check: installing chromium" >&2
export DEBIAN_FRONTEND=noninteractive
# For the lock on its lists apt has no timeout: another apt-get update gets time to end.
apt-get -qq update >/dev/null 2>&1 || { sleep 30; apt-get -qq update >/dev/null; }
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null </dev/null
