#!/bin/bash
# apt.sh FOR PROGRAM=PACKAGE...: installs the Debian packages of the programs (or files) that are missing on this host, when run as
# root on Debian. Otherwise it says what to install. Services of these packages are not started, now or at the next boot. FOR names
# what needs the programs.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin # Debian keeps some programs outside of an ordinary user's PATH
for=$1
shift
missing=()
find_missing() {
  missing=()
  for need in "$@"; do
    program=${need%=*} package=${need#*=}
    if command -v "$program" >/dev/null || [[ $program == /* && -e $program ]] || [[ " ${missing[*]} " == *" $package "* ]]; then continue; fi
    missing+=("$package")
  done
}
find_missing "$@"
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "$for: these Debian packages are missing; install them as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

# Two runs of this script wait for each other: for the lock on its lists, apt has no time limit.
exec 9>/var/lock/knee-apt
flock 9
find_missing "$@"
[ ${#missing[@]} -gt 0 ] || exit 0
echo "$for: installing ${missing[*]}" >&2
policy=/usr/sbin/policy-rc.d
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$log" "$policy"' EXIT
fi
enabled() { systemctl list-unit-files --type=service --state=enabled --no-legend 2>/dev/null | awk '{print $1}' | sort; }
before=$(enabled || true)
export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$log" 2>&1 9>&-; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }
# Somebody else's apt-get update gets time to end.
if ! install && ! { { apt update || { sleep 30 && apt update; }; } && install; }; then
  tail -n 20 "$log" >&2
  echo "$for: apt-get could not install ${missing[*]} (its last lines are above)" >&2
  exit 1
fi
for unit in $(comm -13 <(echo "$before") <(enabled || true)); do
  systemctl disable "$unit" >/dev/null 2>&1 || true
done
