#!/bin/bash
# Makes sure that the host has the programs the embedded cluster runs with.
# As root, what is missing is installed with apt; otherwise one sentence says
# what is missing and how to install it.
set -euo pipefail
# Debian keeps some of these outside of an ordinary user's PATH.
export PATH=$PATH:/usr/sbin:/sbin

# program (or file) -> Debian package
needed=(
  containerd=containerd ctr=containerd runc=runc iptables=iptables conntrack=conntrack
  nsenter=util-linux mount=mount modprobe=kmod
  /usr/lib/cni/bridge=containernetworking-plugins
)
missing=()
for need in "${needed[@]}"; do
  program=${need%=*} package=${need#*=}
  command -v "$program" >/dev/null 2>&1 || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "ensure-host: the embedded cluster needs these Debian packages, which are not installed: ${missing[*]}; install them as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "ensure-host: installing ${missing[*]}"
# Debian starts a service when its package is installed. The cluster starts its
# own containerd, so a system one which was not there before is kept from
# starting, now (policy-rc.d) and at the next boot (disable).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" </dev/null; }
# For the lock on its lists apt has no timeout: another apt-get update gets time to end.
update() {
  apt-get -qq update && return
  grep -q '/lists/lock' "$log" || return 1
  sleep 30
  apt-get -qq update
}
log=$(mktemp)
if ! { install || { update && install; }; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "ensure-host: apt-get could not install ${missing[*]} (its last lines are above)" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
if [[ " ${missing[*]} " == *" containerd "* ]] && command -v systemctl >/dev/null; then
  systemctl disable containerd.service >/dev/null 2>&1 || true
fi
