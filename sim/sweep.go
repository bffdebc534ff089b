// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"allot/model"
)

// SweepOptions says which runs a sweep makes: every combination of the parameters' values, each so many times.
type SweepOptions struct {
	// Over lists the parameters. The last one changes fastest.
	Over []Over
	// Repeat is the number of runs at each point, with the seeds Seed, Seed+1, … 0 means 1.
	Repeat int
	Seed   uint64
	// Workers is the number of runs at a time; 0 means one for every core. The result does not depend on it.
	Workers int
	// Make is called for every run, from several goroutines at once. The seed of the options is set by the sweep. The
	// daemon in them must be a new one for each call, because daemons remember.
	Make func(point Point) (*model.Instance, Options, error)
	// Progress, if given, is called after every run, from one goroutine at a time.
	Progress func(done, total int)
}

// Point is where a run of a sweep stands.
type Point struct {
	Names  []string
	Values []int64 // by name
	Repeat int
	Seed   uint64
}

// Get is the value of a parameter, and whether the sweep is over it.
func (p Point) Get(name string) (int64, bool) {
	for i, n := range p.Names {
		if n == name {
			return p.Values[i], true
		}
	}
	return 0, false
}

func (o *SweepOptions) validate() error {
	if o.Make == nil {
		return errors.New("sweep: there is nothing to make the runs with")
	}
	if len(o.Over) == 0 {
		return errors.New("sweep: there is no parameter to go over")
	}
	points := 1
	for i, over := range o.Over {
		if len(over.Values) == 0 {
			return fmt.Errorf("sweep: parameter %s has no values", over.Name)
		}
		for _, before := range o.Over[:i] {
			if before.Name == over.Name {
				return fmt.Errorf("sweep: parameter %s is given twice", over.Name)
			}
		}
		if points *= len(over.Values); points > MaxPoints {
			return fmt.Errorf("sweep: there are more than %d points", MaxPoints)
		}
	}
	if o.Repeat == 0 {
		o.Repeat = 1
	}
	if o.Repeat < 0 || o.Repeat > MaxPoints || points*o.Repeat > 100*MaxPoints {
		return fmt.Errorf("sweep: %d points %d times: at most %d times and %d runs are allowed", points, o.Repeat, MaxPoints, 100*MaxPoints)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

// Sweep makes the runs on all cores. Each result is put in its place in the table, so the table is the same however many
// cores there are. When the context ends, the table holds the runs that were finished.
func Sweep(ctx context.Context, o SweepOptions) (*Table, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	points := o.points()
	total := len(points) * o.Repeat
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := make([]*Row, total)
	failures := make([]error, total)
	jobs := make(chan int)
	var group sync.WaitGroup
	var lock sync.Mutex
	done := 0
	for range min(o.Workers, total) {
		group.Go(func() {
			for i := range jobs {
				point := points[i/o.Repeat]
				point.Repeat = i % o.Repeat
				point.Seed = o.Seed + uint64(point.Repeat)
				if rows[i], failures[i] = o.run(ctx, point); failures[i] != nil {
					cancel()
				}
				lock.Lock()
				if done++; o.Progress != nil {
					o.Progress(done, total)
				}
				lock.Unlock()
			}
		})
	}
	wasCut := false
	for i := range total {
		if ctx.Err() != nil {
			wasCut = true
			break
		}
		jobs <- i
	}
	close(jobs)
	group.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return newTable(o.Over, rows, wasCut), nil
}

// points lists the combinations.
func (o *SweepOptions) points() []Point {
	points := []Point{{}}
	for _, over := range o.Over {
		var longer []Point
		for _, p := range points {
			for _, v := range over.Values {
				longer = append(longer, Point{
					Names:  append(append([]string{}, p.Names...), over.Name),
					Values: append(append([]int64{}, p.Values...), v),
				})
			}
		}
		points = longer
	}
	return points
}

// run is one run, nil if it was interrupted.
func (o *SweepOptions) run(ctx context.Context, p Point) (*Row, error) {
	inst, options, err := o.Make(p)
	if err != nil {
		return nil, fmt.Errorf("sweep at %s: %w", p, err)
	}
	options.Seed = p.Seed
	report, err := Run(ctx, inst, options)
	if err != nil {
		return nil, fmt.Errorf("sweep at %s: %w", p, err)
	}
	if report.Stopped == StoppedInterrupted {
		return nil, nil
	}
	return newRow(p, report), nil
}

// String writes the point as n=10, k=3.
func (p Point) String() string {
	text := ""
	for i, name := range p.Names {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s=%d", name, p.Values[i])
	}
	return text
}
