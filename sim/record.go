// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/bits"

	"allot/model"
)

// recording keeps the decisions of a run. The moves stand one after the other in large blocks, so that a step costs no
// allocation.
type recording struct {
	isOn  bool
	start []uint64
	steps [][]model.Move
	block []model.Move
}

// add keeps a step, and tells whether there is room for another one.
func (r *recording) add(step []model.Move) bool {
	if cap(r.block)-len(r.block) < len(step) {
		r.block = make([]model.Move, 0, max(1<<14, len(step)))
	}
	from := len(r.block)
	r.block = append(r.block, step...)
	r.steps = append(r.steps, r.block[from:len(r.block):len(r.block)])
	return len(r.steps) < model.MaxRunSteps
}

// Origins of a recorded run. Positions on unordered links mean different things in the two: a live link keeps the order
// in which messages came, an interned one is sorted. Only runs of the origin "sim" are live.
const (
	originLive     = "sim"
	originInterned = "sim, interned"
)

// recorded is the run as a file holds it. If a claim is broken in its last configuration, the header says so.
func (r *runner) recorded() *model.Run {
	run := &model.Run{Steps: r.record.steps}
	run.Header = model.Header{
		Format: model.RunFormat, Origin: originLive, Daemon: r.daemon.String(), Seed: r.o.Seed,
		Start: r.record.start, Process: -1, Loop: -1,
	}
	if n, ok := r.world.sys.(*model.Network); ok && n.Table() != nil {
		run.Origin = originInterned
	}
	if r.o.Script != nil {
		run.Script = r.o.Script.Text
	}
	if v := r.watcher.first; v.watch != nil && v.step == len(run.Steps) {
		run.Property, run.Why = v.watch.property.Name, v.watch.report.Why
	}
	return run
}

// counterexample cuts the recording off at the first violation.
func (r *runner) counterexample() *model.Run {
	v := r.watcher.first
	if v.watch == nil {
		return nil
	}
	run := r.recorded()
	run.Steps = run.Steps[:v.step]
	run.Property, run.Why = v.watch.property.Name, v.watch.report.Why
	return run
}

// The trace is a hash of the moves. It is not meant to withstand anybody who tries; it must only be the same everywhere.
const (
	traceStart  uint64 = 0x6a09e667f3bcc908
	traceFactor uint64 = 0x9fb21c651e98df25
)

func mix(h uint64, m model.Move) uint64 {
	h = (h ^ uint64(uint32(m.At)) ^ uint64(m.Kind)<<32) * traceFactor
	return bits.RotateLeft64(h^m.Arg, 29) * 0x9e3779b97f4a7c15
}
