// Package loopback gives tests addresses on which no process listens.
package loopback

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
)

// firstPort is below the range from which the kernel takes ports (net.ipv4.ip_local_port_range), so no other program gets one of
// these ports by chance.
const firstPort = 10_000

var used atomic.Int32

// Host returns a loopback address that only this process uses. On Linux, every address of 127.0.0.0/8 is a loopback address.
// The process ID, which has at most 22 bits, makes the address unique.
func Host() string {
	pid := os.Getpid()
	return netip.AddrFrom4([4]byte{127, byte(64 + pid>>16&0x3f), byte(pid >> 8), byte(pid)}).String()
}

// Port returns a port of Host that this process has not used before.
func Port() int { return firstPort + int(used.Add(1)) }

// Address returns Host with a new Port. A test need not open and close a port to find an address: between both, another process
// could take the port.
func Address() string { return net.JoinHostPort(Host(), strconv.Itoa(Port())) }
