package probe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"
)

// Sampler reads the machine's counters.
type Sampler struct {
	proc  procfs.FS
	mount string // of proc
	disks blockdevice.FS
	sys   string
	whole map[string]bool // devices that are whole disks, by name
	order map[string]int  // whole disks by name: their place in Sample.DiskBusy

	runQueue, runs float64
	search         *search
	limited        struct { // what was read of the limits of OpenSearch's process
		pid          string
		maxProcesses int64
	}
	began time.Time
}

// NewSampler reads below the given mounts of proc and sys.
func NewSampler(proc, sys string) (*Sampler, error) {
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return nil, err
	}
	disks, err := blockdevice.NewFS(proc, sys)
	if err != nil {
		return nil, err
	}
	return &Sampler{proc: fs, mount: proc, disks: disks, sys: sys, whole: map[string]bool{}, order: map[string]int{}, search: newSearch(proc), began: time.Now()}, nil
}

// Sample reads the counters now. Only the CPU's are indispensable.
func (s *Sampler) Sample() (Sample, error) {
	stat, err := s.proc.Stat()
	if err != nil {
		return Sample{}, fmt.Errorf("read the machine's CPU time: %w", err)
	}
	c := stat.CPUTotal // guest time is in user and nice already
	out := Sample{At: time.Now(), User: c.User + c.Nice, Sys: c.System + c.IRQ + c.SoftIRQ, IOWait: c.Iowait,
		Steal: c.Steal, Idle: c.Idle, Cores: len(stat.CPU)}
	s.runQueue += max(0, float64(stat.ProcessesRunning)-1) // the probe itself runs while it asks
	s.runs++
	out.RunQueue, out.Runs = s.runQueue, s.runs
	s.pressure(&out)
	s.disk(&out)
	s.network(&out)
	out.ResidentBytes = s.search.resident()
	out.Quota = quotaOf(s.mount, s.search.pid)
	out.MaxProcesses = s.maxProcesses()
	out.OwnCPU = ownCPU()
	out.ClockStep = (out.At.Round(0).Sub(s.began.Round(0)) - out.At.Sub(s.began)).Round(time.Millisecond)
	if m, err := s.proc.Meminfo(); err == nil && m.DirtyBytes != nil && m.WritebackBytes != nil {
		out.DirtyBytes = int64(*m.DirtyBytes + *m.WritebackBytes)
	}
	return out, nil
}

// maxProcesses reads the limit once a process: nothing changes it later.
func (s *Sampler) maxProcesses() int64 {
	if pid := s.search.pid; pid != s.limited.pid {
		s.limited.pid, s.limited.maxProcesses = pid, 0
		if pid != "" {
			s.limited.maxProcesses = maxProcesses(s.mount, pid)
		}
	}
	return s.limited.maxProcesses
}

// ownCPU is the CPU time that this process has used, in seconds.
func ownCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// pressure reads the stall totals, in microseconds; a kernel without PSI has none.
func (s *Sampler) pressure(out *Sample) {
	for resource, to := range map[string]*float64{"cpu": &out.PressureCPU, "memory": &out.PressureMemory, "io": &out.PressureIO} {
		psi, err := s.proc.PSIStatsForResource(resource)
		if err != nil || psi.Some == nil {
			return
		}
		*to = float64(psi.Some.Total) / 1e6
	}
	out.HasPressure = true
}

// sector is the kernel's unit of disks in bytes, whatever the disk's own.
const sector = 512

// disk adds up the traffic of whole disks; a partition's would count twice.
func (s *Sampler) disk(out *Sample) {
	stats, err := s.disks.ProcDiskstats()
	if err != nil {
		return
	}
	out.DiskBusy = make([]float64, len(s.order))
	for _, d := range stats {
		if d.ReadIOs+d.WriteIOs == 0 || !s.isWhole(d.DeviceName) {
			continue
		}
		at, known := s.order[d.DeviceName]
		if !known {
			at = len(s.order)
			s.order[d.DeviceName] = at
			out.DiskBusy = append(out.DiskBusy, 0)
		}
		out.DiskBusy[at] = float64(d.IOsTotalTicks) / 1e3 // milliseconds
		out.DiskReadBytes += sector * float64(d.ReadSectors)
		out.DiskWriteBytes += sector * float64(d.WriteSectors)
		out.Operations += float64(d.ReadIOs + d.WriteIOs)
	}
}

// network adds up the interfaces of the probe's own network namespace, which is its pod's: all that OpenSearch sends
// and receives, and nothing of other pods. The node's own interfaces are out of an unprivileged pod's sight.
func (s *Sampler) network(out *Sample) {
	interfaces, err := s.proc.NetDev()
	if err != nil {
		return
	}
	for name, i := range interfaces {
		if name != "lo" {
			out.Received += float64(i.RxBytes)
			out.Transmitted += float64(i.TxBytes)
		}
	}
}

// isWhole says whether a device is a disk of its own: no partition, and not one made of others (dm, md, loop).
func (s *Sampler) isWhole(name string) bool {
	if whole, known := s.whole[name]; known {
		return whole
	}
	dir := filepath.Join(s.sys, "class/block", name)
	_, device := os.Stat(filepath.Join(dir, "device"))
	_, partition := os.Stat(filepath.Join(dir, "partition"))
	s.whole[name] = device == nil && partition != nil
	return s.whole[name]
}

// Run adds a sample to the ring every interval until the context ends.
func (s *Sampler) Run(ctx context.Context, ring *Ring, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		sample, err := s.Sample()
		if err != nil {
			return err
		}
		ring.Add(sample)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
