#!/bin/bash
# Installs what the images are made with, when run as root on Debian;
# otherwise says in one sentence what to install.
set -euo pipefail
declare -A package=([mmdebstrap]=mmdebstrap [python3]=python3 [mvn]=maven)
missing=()
for program in "${!package[@]}"; do
  command -v "$program" >/dev/null || missing+=("${package[$program]}")
done
python3 -c 'import pip' 2>/dev/null || missing+=(python3-pip)
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "images: install these Debian packages first: ${missing[*]}" >&2
  exit 1
fi
echo "images: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
# For the lock on its lists apt has no timeout: another apt-get update gets time to end.
update() {
  local output
  output=$(apt-get -qq update 2>&1) && return
  if [[ $output == */lists/lock* ]]; then
    sleep 30
    output=$(apt-get -qq update 2>&1) && return
  fi
  echo "$output" >&2
  return 1
}
update && apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" >/dev/null </dev/null
