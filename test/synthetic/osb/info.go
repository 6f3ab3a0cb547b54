package osb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// infoScript imitates the program's subcommand info. For other subcommands it does nothing else. The program refuses a workload
// whose templates do not use all parameters.
const infoScript = `#!/bin/sh
for a in "$@"; do case "$a" in --workload-params=*) params="${a#--workload-params=}";; esac; done
mkdir -p "$HOME/.benchmark/logs"
echo "2026-11-23 07:02:59,885 -not-actor-/PID:8 osbenchmark.workload.loader INFO Final rendered workload for '/w/workload.json' has been written to '%[1]s'." >> "$HOME/.benchmark/logs/benchmark.log"
for name in %[2]s; do if grep -q "\"$name\"" "$params"; then unused="$unused, '$name'"; fi; done
[ -z "$unused" ] && exit 0
echo "[ERROR] ❌ Cannot info. Unused workload parameters [${unused#, }]."
printf '\nGetting further help:\n*********************\n'
exit 64
`

// InstallInfo makes an executable FAKE of opensearch-benchmark that only describes a workload. Its log names the file with the
// rendered workload. It refuses the given parameters. TestFakeOSBInfo_describesAsRealOne compares it with the program.
func InstallInfo(dir, rendered string, unused ...string) (program string, err error) {
	program = filepath.Join(dir, "opensearch-benchmark")
	return program, os.WriteFile(program, fmt.Appendf(nil, infoScript, rendered, strings.Join(unused, " ")), 0o755)
}
