#!/bin/bash
# Starts OpenSearch with the settings that the environment names: a variable
# with a dot in its name (cluster.name), or `processors`, becomes -Ename=value.
# Any other command than `opensearch` is run as it stands.
set -euo pipefail
# Folders made by OpenSearch stay writable for its group.
umask 0002
export OPENSEARCH_HOME=/usr/share/opensearch
export OPENSEARCH_PATH_CONF=${OPENSEARCH_PATH_CONF:-$OPENSEARCH_HOME/config}
# In a container the control groups are mounted at the root while
# /proc/self/cgroup names the path outside; OpenSearch reads the former.
export OPENSEARCH_JAVA_OPTS="-Dopensearch.cgroups.hierarchy.override=/ ${OPENSEARCH_JAVA_OPTS:-}"

if [ $# = 0 ] || [[ $1 == -* ]]; then
  set -- opensearch "$@"
fi
if [ "$1" != opensearch ]; then
  exec "$@"
fi
if [ "$(id -u)" = 0 ]; then
  echo "OpenSearch cannot run as root: start the container as another user, such as 1000" >&2
  exit 1
fi

settings=()
while IFS='=' read -r -d '' name value; do
  if [[ $name =~ ^[a-z0-9_]+(\.[a-z0-9_]+)+$ || $name == processors ]] && [ -n "$value" ]; then
    settings+=("-E$name=$value")
  fi
done < <(env -0)

# This image has neither plugin; with one added, its switch does what it does
# in the official image.
if [ -d plugins/opensearch-security ]; then
  if [ "${DISABLE_SECURITY_PLUGIN:-}" = true ]; then
    settings+=(-Eplugins.security.disabled=true)
  elif [ "${DISABLE_INSTALL_DEMO_CONFIG:-}" != true ]; then
    bash plugins/opensearch-security/tools/install_demo_configuration.sh -y -i -s
  fi
fi
agent=bin/opensearch-performance-analyzer/performance-analyzer-agent-cli
if [ -x "$agent" ] && [ "${DISABLE_PERFORMANCE_ANALYZER_AGENT_CLI:-}" != true ]; then
  "$agent" > logs/PerformanceAnalyzer.log 2>&1 &
fi
exec "$@" ${settings[@]+"${settings[@]}"}
