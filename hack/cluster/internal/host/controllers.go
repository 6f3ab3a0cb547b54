package host

import (
	"os"
	"path/filepath"
	"slices"
)

// RememberControllers records the controllers that will be enabled for the children of a cgroup v2 mount's root.
func (h Host) RememberControllers(mount string, controllers []string) error {
	return h.locked(func(s *saved) error {
		for _, controller := range controllers {
			if !slices.Contains(s.Controllers[mount], controller) {
				s.Controllers[mount] = append(s.Controllers[mount], controller)
			}
		}
		return nil
	})
}

// disableControllers disables the controllers that a cluster enabled. The kernel refuses this (EBUSY) while another
// cgroup still enables the controller for its own children. Then another program uses the controller, and it stays
// enabled.
func (h Host) disableControllers(s *saved) {
	for mount, controllers := range s.Controllers {
		for _, controller := range controllers {
			if err := os.WriteFile(filepath.Join(mount, "cgroup.subtree_control"), []byte("-"+controller), 0o644); err != nil {
				h.Log("the cgroup controller %s stays enabled: %v", controller, err)
			}
		}
	}
	clear(s.Controllers)
}
