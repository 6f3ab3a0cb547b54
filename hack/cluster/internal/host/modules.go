package host

import (
	"errors"
	"os"
	"path/filepath"
)

// bridgeFilters are per network namespace, and 1 in each that is there when
// br_netfilter is loaded, the host's among them.
var bridgeFilters = []string{
	"net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables", "net/bridge/bridge-nf-call-arptables",
}

// LoadModules loads the kernel modules that the cluster uses. Loaded for it,
// br_netfilter does not lead what crosses the host's own bridges through the
// host's packet filters: only the cluster's network namespace has that.
func (h Host) LoadModules() error {
	_, err := os.Stat(filepath.Join(h.Sys, bridgeFilters[0]))
	loaded := err == nil
	h.Modprobe("overlay", "br_netfilter", "nf_conntrack")
	if loaded {
		return nil // as the host has it
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
