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

// Sampler reads the counters of the machine.
type Sampler struct {
	proc  procfs.FS
	mount string // mount point of proc
	disks blockdevice.FS
	sys   string
	whole map[string]bool // cached result of isWhole, by device name
	order map[string]int  // index of each whole disk in Sample.DiskBusy, by device name

	runQueue, runs float64
	search         *search
	limited        struct { // cached limit of the OpenSearch process with this pid
		pid          string
		maxProcesses int64
	}
	began time.Time
}

// NewSampler returns a Sampler that reads the given mounts of proc and sys.
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

// Sample reads the current counters. It fails only if the CPU counters cannot be read; other unreadable counters stay 0.
func (s *Sampler) Sample() (Sample, error) {
	stat, err := s.proc.Stat()
	if err != nil {
		return Sample{}, fmt.Errorf("cannot read the machine's CPU time: %w", err)
	}
	c := stat.CPUTotal // user and nice already include guest time
	out := Sample{At: time.Now(), User: c.User + c.Nice, Sys: c.System + c.IRQ + c.SoftIRQ, IOWait: c.Iowait,
		Steal: c.Steal, Idle: c.Idle, Cores: len(stat.CPU)}
	s.runQueue += max(0, float64(stat.ProcessesRunning)-1) // without the probe itself, which runs at this moment
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

// maxProcesses returns the limit of the OpenSearch process. It reads the limit only once for each process, because the limit
// does not change.
func (s *Sampler) maxProcesses() int64 {
	if pid := s.search.pid; pid != s.limited.pid {
		s.limited.pid, s.limited.maxProcesses = pid, 0
		if pid != "" {
			s.limited.maxProcesses = maxProcesses(s.mount, pid)
		}
	}
	return s.limited.maxProcesses
}

// ownCPU returns the CPU time that this process has used, in seconds.
func ownCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// pressure reads the total stall times and converts them from microseconds to seconds. A kernel without PSI reports none.
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

// sector is the size of a sector in the kernel's disk statistics, in bytes. It is the same for all disks.
const sector = 512

// disk sums the traffic of whole disks. It ignores partitions, because their traffic is already counted by the whole disk.
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
		out.DiskBusy[at] = float64(d.IOsTotalTicks) / 1e3 // IOsTotalTicks is in milliseconds
		out.DiskReadBytes += sector * float64(d.ReadSectors)
		out.DiskWriteBytes += sector * float64(d.WriteSectors)
		out.Operations += float64(d.ReadIOs + d.WriteIOs)
	}
}

// network sums the interfaces of the probe's network namespace, except loopback. The namespace belongs to the pod, so the sum
// includes all traffic of OpenSearch and no traffic of other pods. An unprivileged pod cannot see the interfaces of the
// Kubernetes node.
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

// isWhole reports whether a device is a whole disk. It returns false for partitions and for devices that consist of other
// devices (dm, md, loop).
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

// Run adds a sample to the ring at every interval until the context ends.
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
