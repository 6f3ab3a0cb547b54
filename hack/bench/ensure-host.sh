#!/bin/bash
# Installs nginx when run as root on Debian; otherwise says in one sentence what to install.
set -euo pipefail
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "bench-loader: install Debian's package nginx-light first" >&2
  exit 1
fi
echo "bench-loader: installing nginx" >&2
export DEBIAN_FRONTEND=noninteractive
# Installing must not start it as a service, where there are any.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
# For the lock on its lists apt has no timeout: another apt-get update gets time to end.
apt-get -qq update >/dev/null 2>&1 || { sleep 30; apt-get -qq update >/dev/null; }
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends nginx-light >/dev/null </dev/null
