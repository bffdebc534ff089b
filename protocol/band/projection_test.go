// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"testing"

	"allot/model"
)

// A critical section with both bounds is two gadgets that know of one another only who is inside. So whatever it does, one gadget alone does
// too: leave out the messages and variables of the other, and take its completed entries (or exits) for free ones. Floor, ceiling
// and rest of both bounds follow from those of each alone, and what is owed in one is owed in the other, so served follows too.
//
// This test walks through every configuration of both bounds and lets one bound alone follow step by step: every step must be possible there,
// and must lead to the same floor (or ceiling) at every process and on every link.

type couple struct {
	gadget      int
	whole, part *model.Network
	n           int
}

func newNetwork(t *testing.T, object, variant, coterie string, n, l, k, times int, inside string) *model.Network {
	t.Helper()
	g, err := model.NewGraph(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Variant: variant, Values: map[string]string{"object": object, "n": fmt.Sprint(n), "l": fmt.Sprint(l),
		"k": fmt.Sprint(k), "coterie": coterie, "times": fmt.Sprint(times), "inside": inside}})
	if err != nil {
		t.Fatal(err)
	}
	return inst.System.(*model.Network)
}

// follow takes the step of the whole in the part, if it is one of the part, and tells what went wrong.
func (c *couple) follow(before, after, part model.Configuration, m model.Move, b *model.Buffer) string {
	p, isOurs := int(m.At), false // there are only requests and deliveries
	if m.Kind == model.Deliver {
		_, p = c.whole.Graph().Ends(int(m.At))
		isOurs = int(model.MessageOf[message](c.whole, before, int(m.At), 0).gadget) == c.gadget
	} else {
		isOurs = model.StateOf[state](c.whole, before, p).inside == (c.gadget == floor)
	}
	was, is := model.StateOf[state](c.whole, before, p).inside, model.StateOf[state](c.whole, after, p).inside
	switch isFree := was != is && is == (c.gadget == floor); {
	case isFree && isOurs:
		return "a step of the gadget completes what the other guards"
	case isFree:
		m = model.Move{Kind: model.Act, At: int32(p)}
	case !isOurs:
		return ""
	}
	if err := c.part.Check(part, m); err != nil {
		return err.Error()
	}
	c.part.Apply(part, []model.Move{m}, b)
	return ""
}

// differ compares one gadget.
func (c *couple) differ(whole, part model.Configuration) string {
	doing := []op{leaving, entering}[c.gadget]
	for p := range c.n {
		a, b := model.StateOf[state](c.whole, whole, p), model.StateOf[state](c.part, part, p)
		if a.inside != b.inside || (a.doing == doing) != (b.doing == doing) || !reflect.DeepEqual(a.gadgets[c.gadget], b.gadgets[c.gadget]) {
			return fmt.Sprintf("process %d differs", p)
		}
	}
	for link := range c.whole.Graph().Links() {
		at := 0
		for i := range c.whole.Length(whole, link) {
			msg := model.MessageOf[message](c.whole, whole, link, i)
			if int(msg.gadget) != c.gadget {
				continue
			}
			if at >= c.part.Length(part, link) || !reflect.DeepEqual(*msg, *model.MessageOf[message](c.part, part, link, at)) {
				return fmt.Sprintf("link %d differs", link)
			}
			at++
		}
		if at != c.part.Length(part, link) {
			return fmt.Sprintf("link %d holds more", link)
		}
	}
	return ""
}

func configurationKey(cs ...model.Configuration) string {
	var key []byte
	for _, c := range cs {
		for _, w := range c {
			key = binary.AppendUvarint(key, w)
		}
	}
	return string(key)
}

// explore walks through everything and returns the number of configurations.
func (c *couple) explore(t *testing.T) int {
	t.Helper()
	type pair struct{ whole, part model.Configuration }
	start := pair{c.whole.Clean(), c.part.Clean()}
	seen, queue := map[string]bool{configurationKey(start.whole, start.part): true}, []pair{start}
	var b, b2 model.Buffer
	var moves []model.Move
	for len(queue) > 0 {
		now := queue[0]
		queue = queue[1:]
		moves = moves[:0]
		for site := range c.whole.Sites() {
			moves = c.whole.Enabled(now.whole, site, moves)
		}
		for _, m := range moves {
			next := pair{append(model.Configuration(nil), now.whole...), append(model.Configuration(nil), now.part...)}
			c.whole.Apply(next.whole, []model.Move{m}, &b)
			if why := c.follow(now.whole, next.whole, next.part, m, &b2); why != "" {
				t.Fatalf("%s: %s", c.whole.Describe(now.whole, m), why)
			}
			if why := c.differ(next.whole, next.part); why != "" {
				t.Fatalf("after %s: %s", c.whole.Describe(now.whole, m), why)
			}
			if key := configurationKey(next.whole, next.part); !seen[key] {
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return len(seen)
}

func TestEachBoundAlone(t *testing.T) {
	type instance struct {
		variant, coterie string
		n, l, k, times   int
	}
	instances := []instance{
		{variant: "corrected", coterie: "majority", n: 3, l: 1, k: 2, times: 0},
		{variant: "corrected", coterie: "own:0+1", n: 3, l: 1, k: 2, times: 1},
		{variant: "lean", coterie: "majority", n: 3, l: 1, k: 2, times: 0},
		{variant: "lean", coterie: "tree", n: 3, l: 1, k: 2, times: 2},
	}
	if os.Getenv("ALLOT_FULL") != "" {
		instances = []instance{{variant: "corrected", coterie: "tree", n: 4, l: 1, k: 2, times: 1}}
	}
	for _, i := range instances {
		whole := newNetwork(t, "gcs", i.variant, i.coterie, i.n, i.l, i.k, i.times, "least")
		alone := newNetwork(t, "mutin", i.variant, i.coterie, i.n, i.l, i.n, i.times, "least")
		first := (&couple{gadget: floor, whole: whole, part: alone, n: i.n}).explore(t)
		inside := "0"
		for p := 1; p < i.l; p++ {
			inside += fmt.Sprintf("+%d", p)
		}
		whole = newNetwork(t, "gcs", i.variant, i.coterie, i.n, i.l, i.k, i.times, "least")
		alone = newNetwork(t, "kmutex", i.variant, i.coterie, i.n, 0, i.k, i.times, inside)
		second := (&couple{gadget: ceiling, whole: whole, part: alone, n: i.n}).explore(t)
		if first != second || first < 500 {
			t.Errorf("%+v: %d and %d configurations", i, first, second)
		}
		t.Logf("%s %s n=%d l=%d k=%d times=%d: %d configurations", i.variant, i.coterie, i.n, i.l, i.k, i.times, first)
	}
}
