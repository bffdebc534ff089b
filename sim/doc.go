// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim is the simulator: it runs one large instance of an algorithm, step by step, under a seeded daemon and a
// script of faults, and measures it. It knows an algorithm only as a model.Instance, and the transition relation is
// the one that the checker uses, so what is measured here is what is proved there.
//
//	g, err := topology.Parse("ring:1000")
//	inst, err := ring.Algorithm.Make(model.Options{Graph: g})
//	report, err := sim.Run(ctx, inst, sim.Options{Start: sim.Arbitrary, Seed: 7, StopWhenStable: true})
//	fmt.Println(report.Verdict, report.Stabilized.Step)
//
// # Chance and time
//
// The same seed gives the same run, byte for byte, on any machine; Report.Trace is a hash of all its moves. Start,
// daemon, faults and clocks have a stream of chance each, all derived from the one seed, so that one fault more in a
// script does not shift the daemon's choices. There is no clock: time is the number of steps that the daemon has
// taken. Faults and ticks happen between two steps. When nobody can move, time jumps to the next fault, tick or end of
// a delay, and if there is none the run has come to rest.
//
// # Daemons
//
// A Daemon chooses who moves: central (one, each with the same probability), synchronous (all), distributed (each with
// a probability), locally-central (a random maximal set without neighbours), round-robin, unfair to one victim, greedy
// by a potential, and recorded. The optimal adversary is the greedy one with the checker's distances as its potential.
// Where one thing happens at a time, in networks and with shared registers, daemons that move several at once are
// refused.
//
// In a network a daemon chooses among processes that have inputs and links that hold messages. Clocks are not chosen,
// they follow the time: one tick in every TickEvery steps, times the clock's rate. Requests of the environment are
// inputs like others and are chosen like others. They do not drown the algorithm as long as a process that has asked
// does not ask again before it is served: then each process is chosen at most once for it, and the rest of the choices
// is left to those who must act. An algorithm without such a limit would measure little but its own requests. A lossy
// link offers to lose a message as well as to deliver it, and either is chosen: half of the messages are lost.
//
// # What is measured
//
// A round ends when every site that owed a move at its beginning has moved or owes none any more. A site is a process;
// in a network also a link, which owes the delivery of what it holds. Nobody owes what the environment may do, and
// clocks have no part in rounds. Waiting is the time from Waiting to Inside, in steps and in entries of others;
// whoever goes from Idle to Inside at once has waited 0.
//
// Properties are looked at in every configuration. The verdict is "violated" when a claim is broken: an Always that
// does not hold, a legitimate set that is left by a step that is no fault, a run that comes to rest where it must not.
// It is "unknown" when the run ended before it was stable, because a longer run might have come there. Claims that are
// made for clean starts are not judged in other runs, nor after memory or a message was forged; their violations are
// counted all the same. A claim that something recurs is not judged, since every run ends.
//
// # Faults
//
// A Script is a text with one statement on each line:
//
//	at 1000 crash 3              # before step 1000
//	at 2000 restart 3
//	every 500 from 100 to 5000 corrupt random 2
//	when stable corrupt all      # once, as soon as the legitimate set holds
//
// The verbs are corrupt, drop, duplicate, delay, forge, crash, resume, restart, cut, heal, leave, join and rate;
// docs/fault-scripts.md explains each. A fault that cannot happen at its time, such as the loss of a message from an
// empty link, is skipped and counted with the reason. Report.Unfired lists the statements that came to nothing.
//
// # Recordings
//
// With Options.Record the report holds the decisions: every move, fault and tick, and the start. Replay takes them
// again, checks each, and says whether the run violates the property that it was kept for; it takes the checker's
// counterexamples too. Shrink leaves out whatever is not needed to fail. Delays and rates act on the schedule alone,
// so a recording has no need of them. A network's values are changed in place in a normal run; daemons that try steps
// and take them back, and properties of single steps, need an interned run, which is slower.
//
// # Sweeps
//
// Sweep makes many runs over the values of parameters, on all cores, and sums them up in a Table. Each result has its
// place, so the table is the same on any number of cores.
//
// # Cost
//
// A step looks only at the sites that it touched: the enabled sites are a list with the position of each site beside
// it, the gauges are sums of what each site contributes, a round costs one bit per site. No step allocates memory. The
// greedy daemon costs a step for each enabled move, synchronous and distributed ones what they move, and properties
// whatever they cost: those that ask for sums of gauges cost nothing to speak of.
package sim
