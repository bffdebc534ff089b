// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"allot/allocator"
	"allot/node/natsbus"
)

// observe logs what happens at this node.
func (d *Daemon) observe(e allocator.Event) {
	switch e.Kind {
	case allocator.EventGeneration:
		names := make([]string, len(e.Members))
		for i, m := range e.Members {
			names[i] = m.Name
		}
		d.log.Info("generation", "number", e.Generation, "members", names, "text", e.Text, "why", e.Why)
	case allocator.EventPool:
		d.log.Info("pool", "pool", e.Pool, "what", e.Text, "why", e.Why)
	case allocator.EventLost:
		d.log.Warn("grant lost", "pool", e.Pool, "owner", e.Owner, "session", e.Session, "grant", e.Grant, "units", e.Units, "why", e.Why)
	case allocator.EventWaiting, allocator.EventGranted, allocator.EventReleased, allocator.EventRefused, allocator.EventVisit:
		// Too many for the log; the metrics count them.
	}
}

// collector gives Prometheus the numbers of the allocator and the fabric.
type collector struct {
	alloc *allocator.Allocator
	bus   *natsbus.Bus
}

var (
	poolUnits   = desc("allot_pool_units", "Units of a pool by the size that it is meant to have.", "pool")
	poolHere    = desc("allot_pool_units_here", "Units of a pool at this node.", "pool", "state")
	poolWaiting = desc("allot_pool_waiting", "Requests that wait at this node.", "pool")
	poolGrants  = desc("allot_pool_grants_total", "Requests granted at this node.", "pool")
	poolLost    = desc("allot_pool_lost_total", "Grants that ended at this node without being released.", "pool")
	poolVisits  = desc("allot_pool_visits_total", "Visits of the controller.", "pool")
	poolWait    = desc("allot_pool_wait_seconds", "How long granted requests had waited.", "pool")
	poolStable  = desc("allot_pool_stable", "1 if the last circulation found every unit exactly once; only the root knows.", "pool")
	sessions    = desc("allot_sessions", "Sessions at this node.")
	generation  = desc("allot_generation", "The generation of the network.")
	members     = desc("allot_members", "Members of the network.")
	isMember    = desc("allot_member", "1 if this node is a member.")
	frames      = desc("allot_frames_total", "Frames between nodes.", "direction")
	frameBytes  = desc("allot_frame_bytes_total", "Bytes of frames between nodes.", "direction")
	framesLost  = desc("allot_frames_dropped_total", "Frames that were dropped here.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe tells that the metrics are found out at each collection.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolUnits, poolHere, poolWaiting, poolGrants, poolLost, poolVisits, poolWait, poolStable, sessions,
		generation, members, isMember, frames, frameBytes, framesLost} {
		ch <- d
	}
}

// Collect reads the numbers.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	n := c.alloc.Network()
	gauge(generation, float64(n.Generation))
	gauge(members, float64(len(n.Members)))
	gauge(isMember, number(n.Ready))
	gauge(sessions, float64(c.alloc.Sessions()))
	for _, p := range c.alloc.Here() {
		gauge(poolUnits, float64(p.Units), p.Pool)
		gauge(poolHere, float64(p.Free), p.Pool, "free")
		gauge(poolHere, float64(p.Held), p.Pool, "held")
		gauge(poolWaiting, float64(p.Waiting), p.Pool)
		if p.IsRoot {
			gauge(poolStable, number(p.IsStable), p.Pool)
		}
		count(poolGrants, p.Grants, p.Pool)
		count(poolLost, p.Lost, p.Pool)
		count(poolVisits, p.Visits, p.Pool)
		buckets, total := map[float64]uint64{}, uint64(0)
		for i, n := range p.Waits.Buckets {
			total += n
			if i < len(p.Waits.Buckets)-1 {
				buckets[math.Ldexp(0.001, i)] = total
			}
		}
		ch <- prometheus.MustNewConstHistogram(poolWait, total, p.Waits.Sum.Seconds(), buckets, p.Pool)
	}
	m := c.bus.Metrics()
	count(frames, m.FramesIn, "in")
	count(frames, m.FramesOut, "out")
	count(frameBytes, m.BytesIn, "in")
	count(frameBytes, m.BytesOut, "out")
	count(framesLost, m.Unreadable+m.Unknown+m.Late+m.Missing+m.Overflow+m.Failed)
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// withHooks serves what only tests may do.
func (d *Daemon) withHooks(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("POST /test/corrupt", func(w http.ResponseWriter, r *http.Request) {
		seed, err := strconv.ParseUint(r.FormValue("seed"), 10, 64)
		if err != nil {
			http.Error(w, "seed: it must be a number", http.StatusBadRequest)
			return
		}
		if err := d.alloc.Corrupt(r.FormValue("pool"), seed); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		d.log.Warn("memory corrupted on request", "pool", r.FormValue("pool"), "seed", seed, "at", time.Now())
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
