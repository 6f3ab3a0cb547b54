package host

import (
	"errors"
	"os"
	"path/filepath"
)

// bridgeFilters are sysctls that exist in each network namespace. When br_netfilter is loaded, they become 1 in all
// existing namespaces, including the host's.
var bridgeFilters = []string{
	"net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables", "net/bridge/bridge-nf-call-arptables",
}

// LoadModules loads the kernel modules that the cluster uses. If it loads br_netfilter, it also sets the host's
// bridge-nf-call sysctls to 0. So traffic on the host's own bridges does not pass the host's packet filters.
func (h Host) LoadModules() error {
	_, err := os.Stat(filepath.Join(h.Sys, bridgeFilters[0]))
	loaded := err == nil
	h.Modprobe("overlay", "br_netfilter", "nf_conntrack")
	if loaded {
		return nil // the module was loaded before: keep the host's values
	}
	for _, path := range bridgeFilters {
		if _, err := h.read(path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := h.write(path, 0); err != nil {
			return err
		}
	}
	return nil
}
