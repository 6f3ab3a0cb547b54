package figures

import "github.com/knee-bench/knee/internal/record"

// trafficFigures lists the figures of the disks and the network of the OpenSearch nodes. They are means over the window.
var trafficFigures = []Figure{
	{Name: "disk_read_mib_per_second", Field: "diskReadMiBs", Of: Node, Unit: "MiB/s", Column: 40, Row: 31, Help: "read from all disks", Over: overSum, Get: disk(func(d *record.Disk) float64 { return d.ReadMiBs })},
	{Name: "disk_write_mib_per_second", Field: "diskWriteMiBs", Of: Node, Unit: "MiB/s", Column: 41, Row: 32, Help: "written to all disks", Over: overSum, Get: disk(func(d *record.Disk) float64 { return d.WriteMiBs })},
	{Name: "disk_iops", Field: "diskIOPS", Of: Node, Unit: "1/s", Column: 42, Row: 33, Help: "reads and writes that all disks completed per second", Over: overSum, Get: disk(func(d *record.Disk) float64 { return d.IOPS })},
	{Name: "disk_busiest_percent", Unit: "%", Column: 90, Help: "share of time in which the busiest disk had work; this share says little about an NVMe disk", Over: overHighest,
		Get: highestNode(within(func(n *record.Node) *record.Disk { return n.Disk }, nonZero(func(d *record.Disk) float64 { return d.BusiestPercent })))},
	{Name: "network_receive_mib_per_second", Field: "networkReceiveMiBs", Of: Node, Unit: "MiB/s", Column: 91, Row: 34, Help: "received by OpenSearch's pod", Over: overSum, Get: network(func(n *record.Network) float64 { return n.ReceiveMiBs })},
	{Name: "network_transmit_mib_per_second", Field: "networkTransmitMiBs", Of: Node, Unit: "MiB/s", Column: 92, Row: 35, Help: "sent by OpenSearch's pod", Over: overSum, Get: network(func(n *record.Network) float64 { return n.TransmitMiBs })},
}

func disk(of func(*record.Disk) float64) Getter {
	return pooled(func(all *record.Pooled) *record.Disk { return all.Disk }, func(n *record.Node) *record.Disk { return n.Disk }, of)
}

func network(of func(*record.Network) float64) Getter {
	return pooled(func(all *record.Pooled) *record.Network { return all.Network }, func(n *record.Node) *record.Network { return n.Network }, of)
}
