package host

import (
	"os"
	"path/filepath"
	"slices"
)

// RememberControllers notes the controllers that are about to be enabled for
// the children of a cgroup v2 mount's root.
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

// disableControllers takes off what was enabled. The kernel refuses (EBUSY) while
// another cgroup passes the controller on to its own children: it is then
// somebody else's by now, and stays.
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
