package web

import (
	"github.com/prometheus/client_golang/prometheus"
)

// namespace begins the name of every metric.
const namespace = "txnfuzz"

// collector gives the numbers of the newest Board to Prometheus.
// https://prometheus.io/docs/instrumenting/writing_exporters/
type collector struct{ now func() (Board, bool) }

// Describe implements prometheus.Collector: which metrics there are depends on the command, so that none is promised.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	b, ok := c.now()
	if !ok {
		return
	}
	labels := prometheus.Labels{"command": b.Command, "target": b.Target}
	for _, f := range b.Figures {
		kind := prometheus.GaugeValue
		if f.Grows {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(desc(f.Metric, f.Help, labels), kind, f.Value)
	}
	verdicts := desc("verdicts_total", "Cases by what was said of them.", labels, "verdict")
	for _, v := range b.Verdicts {
		to <- prometheus.MustNewConstMetric(verdicts, prometheus.CounterValue, float64(v.N), v.Name)
	}
	phases := desc("phase_share", "Share of the time of the work, by its part.", labels, "phase")
	for _, p := range b.Phases {
		to <- prometheus.MustNewConstMetric(phases, prometheus.GaugeValue, p.Share, p.Name)
	}
	to <- prometheus.MustNewConstMetric(desc("start_time_seconds", "When the work began, in seconds since 1970.", labels),
		prometheus.GaugeValue, float64(b.Begun.UnixMilli())/1000)
}

func desc(name, help string, labels prometheus.Labels, variable ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, variable, labels)
}
