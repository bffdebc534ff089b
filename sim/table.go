// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Table is the result of a sweep.
type Table struct {
	Parameters []string  `json:"parameters"`
	Columns    []string  `json:"columns"` // of what was measured
	Rows       []Row     `json:"rows"`    // one for each run
	Points     []Summary `json:"points"`  // one for each combination of values
	// Growth is the exponent of each column in the first parameter: 2 means that it grows with its square.
	Growth map[string]Number `json:"growth"`
	// IsCut tells that the sweep was interrupted and rows are missing.
	IsCut bool `json:"cut"`
}

// Row is one run.
type Row struct {
	Values   []int64  `json:"values"` // by parameter
	Seed     uint64   `json:"seed"`
	Verdict  string   `json:"verdict"`
	Trace    string   `json:"trace"`
	Measured []Number `json:"measured"` // by column
}

// Summary is all runs of one point, by column.
type Summary struct {
	Values   []int64 `json:"values"`
	Runs     int     `json:"runs"`
	Violated int     `json:"violated"`
	Stats    []Stats `json:"stats"`
}

// Stats of one column. Count is how many runs have a value.
type Stats struct {
	Count int    `json:"count"`
	Mean  Number `json:"mean"`
	Min   Number `json:"min"`
	Max   Number `json:"max"`
	P50   Number `json:"p50"`
	P99   Number `json:"p99"`
}

// Number is a measured value; one that is not a number was not measured, and is null in JSON and empty in CSV.
type Number float64

// MarshalJSON writes null for what is not a number.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n Number) String() string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}

// columns is what a sweep measures, taken from a report.
var columns = []struct {
	name string
	of   func(r *Report) float64
}{
	{"steps", func(r *Report) float64 { return float64(r.Steps) }},
	{"moves", func(r *Report) float64 { return float64(r.Moves) }},
	{"rounds", func(r *Report) float64 { return float64(r.Rounds) }},
	{"messages", func(r *Report) float64 { return float64(r.Messages) }},
	{"bytes", func(r *Report) float64 { return float64(r.Bytes) }},
	{"stabilized_steps", func(r *Report) float64 { return measured(r.Stabilized.Step) }},
	{"stabilized_moves", func(r *Report) float64 { return measured(r.Stabilized.Moves) }},
	{"stabilized_rounds", func(r *Report) float64 { return measured(r.Stabilized.Round) }},
	{"outside", func(r *Report) float64 { return float64(r.Outside) }},
	{"judged_violations", func(r *Report) float64 {
		var sum int64
		for _, p := range r.Properties {
			sum += p.Judged
		}
		return float64(sum)
	}},
	{"wait_steps_mean", waiting(func(w *Waiting) float64 { return w.Steps.Mean })},
	{"wait_steps_p99", waiting(func(w *Waiting) float64 { return float64(w.Steps.P99) })},
	{"wait_steps_max", waiting(func(w *Waiting) float64 { return float64(w.Steps.Max) })},
	{"wait_entries_mean", waiting(func(w *Waiting) float64 { return w.Entries.Mean })},
	{"wait_entries_max", waiting(func(w *Waiting) float64 { return float64(w.Entries.Max) })},
	{"entered", waiting(func(w *Waiting) float64 { return float64(w.Entered) })},
	{"jain", waiting(func(w *Waiting) float64 { return w.Jain })},
}

// ColumnNames lists what a sweep measures.
func ColumnNames() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// measured turns the -1 of what did not happen into what is not a number.
func measured(v int64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return float64(v)
}

func waiting(of func(w *Waiting) float64) func(r *Report) float64 {
	return func(r *Report) float64 {
		if r.Waiting == nil || r.Waiting.Steps.Count == 0 {
			return math.NaN()
		}
		return of(r.Waiting)
	}
}

func newRow(p Point, r *Report) *Row {
	row := &Row{Values: p.Values, Seed: p.Seed, Verdict: r.Verdict, Trace: r.Trace}
	for _, c := range columns {
		row.Measured = append(row.Measured, Number(c.of(r)))
	}
	return row
}

func newTable(over []Over, rows []*Row, isCut bool) *Table {
	t := &Table{Columns: ColumnNames(), IsCut: isCut, Growth: map[string]Number{}}
	for _, o := range over {
		t.Parameters = append(t.Parameters, o.Name)
	}
	for _, r := range rows {
		if r == nil {
			t.IsCut = true
			continue
		}
		t.Rows = append(t.Rows, *r)
	}
	for from := 0; from < len(t.Rows); {
		to := from
		for to < len(t.Rows) && slices.Equal(t.Rows[to].Values, t.Rows[from].Values) {
			to++
		}
		t.Points = append(t.Points, summarize(t.Rows[from:to]))
		from = to
	}
	for i, name := range t.Columns {
		if slope, ok := t.growth(i); ok {
			t.Growth[name] = Number(slope)
		}
	}
	return t
}

func summarize(rows []Row) Summary {
	s := Summary{Values: rows[0].Values, Runs: len(rows)}
	for _, r := range rows {
		if r.Verdict == Violated {
			s.Violated++
		}
	}
	for i := range columns {
		var values []float64
		for _, r := range rows {
			if v := float64(r.Measured[i]); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		s.Stats = append(s.Stats, statsOf(values))
	}
	return s
}

// statsOf values; a quantile is the smallest value that is not below the given part of all.
func statsOf(values []float64) Stats {
	n := len(values)
	if n == 0 {
		nan := Number(math.NaN())
		return Stats{0, nan, nan, nan, nan, nan}
	}
	slices.Sort(values)
	var sum float64
	for _, v := range values {
		sum += v
	}
	at := func(part float64) Number { return Number(values[max(0, int(math.Ceil(part*float64(n)))-1)]) }
	return Stats{n, Number(sum / float64(n)), Number(values[0]), Number(values[n-1]), at(0.5), at(0.99)}
}

// growth is the slope of the least squares line through the logarithms of the first parameter and of a column's means.
// Points where either is not positive are left out; there must be two.
func (t *Table) growth(column int) (float64, bool) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range t.Points {
		x, y := float64(p.Values[0]), float64(p.Stats[column].Mean)
		if !(x > 0 && y > 0) {
			continue
		}
		x, y = math.Log(x), math.Log(y)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	spread := n*sxx - sx*sx
	if n < 2 || spread < 1e-9 {
		return 0, false
	}
	return (n*sxy - sx*sy) / spread, true
}

// WriteCSV writes one line for each run, with a line of names before them.
func (t *Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append(append([]string{}, t.Parameters...), "seed", "verdict", "trace")
	if err := out.Write(append(head, t.Columns...)); err != nil {
		return fmt.Errorf("write a table: %w", err)
	}
	for _, r := range t.Rows {
		var line []string
		for _, v := range r.Values {
			line = append(line, strconv.FormatInt(v, 10))
		}
		line = append(line, strconv.FormatUint(r.Seed, 10), r.Verdict, r.Trace)
		for _, v := range r.Measured {
			line = append(line, v.String())
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write a table: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}
