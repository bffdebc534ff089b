// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"

	"allot/model"
)

// The gauges, by number.
const (
	privileges = iota
	strays     // processes that are not normal or have no parent
	inFlight   // tokens that are held out and not taken yet, and those that the root has still to give
)

var gauges = []model.Gauge{
	{Name: "privileges", Text: "processes that may enter the critical section", Of: gauge(func(w *program, p int, v *model.View) int64 {
		return number(w.isPrivileged(p, v.C))
	})},
	{Name: "strays", Text: "processes that are not normal or not in the tree", Of: gauge(func(w *program, p int, v *model.View) int64 {
		if p == w.root {
			return 0
		}
		s := w.look(p, v.C)
		return number(s.p == 0 || !w.isNormalByPaper(&s))
	})},
	{Name: "tokens", Text: "tokens at the root and on the way", Of: gauge(func(w *program, p int, v *model.View) int64 {
		return w.tokensAt(p, v.C)
	})},
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func gauge(of func(w *program, p int, v *model.View) int64) func(*model.View, int) int64 {
	return func(v *model.View, site int) int64 {
		s := v.System.(*model.Guarded)
		if site >= s.Graph().Len() || s.IsCrashed(v.C, site) {
			return 0
		}
		return of(programOf(v), site, v)
	}
}

func programOf(v *model.View) *program {
	switch p := v.System.(*model.Guarded).Program().(type) {
	case *program:
		return p
	case *changing:
		return p.program
	}
	return nil
}

// isNormalByPaper is Normal with all its parts, by which mutants are judged too.
func (w *program) isNormalByPaper(v *sight) bool {
	if v.p == 0 {
		return v.t == isC
	}
	k := v.parentT
	return v.parentP != 0 && v.l == v.parentL+1 &&
		(v.t != isB || k == isB) &&
		(v.t != isF || k == isB || k == isF || k == isC) &&
		(v.t != isTok || k == isTok || k == isOffer || k == isR || k == isC)
}

// tokensAt counts at the root what it has still to give, and at the others the token that the parent holds out.
func (w *program) tokensAt(p int, c model.Configuration) int64 {
	if p != w.root {
		s := w.look(p, c)
		return number(s.p != 0 && s.t == isC && isOffering(s.parentT) && s.isSentTo)
	}
	t, l := w.nodes[p].t.Get(c[p]), w.tokens
	switch {
	case t == rootC && w.rules.has(keeping):
		return int64(l - min(l, w.lookRoot(c).kept))
	case t == rootC:
		return int64(l)
	case t < rootToken:
		return 0
	case t >= rootToken+l:
		t -= l
	}
	return int64(l - 1 - (t - rootToken))
}

// isLegitimate is the set that the corrected algorithm reaches and never leaves:
//
//   - everybody has a parent and is normal, so that the tree is complete and stays as it is;
//   - there are at most l tokens, those that the root has still to give included;
//   - a token is never below an F, nor below a root that is in C: what has fed back is clean, all the way down.
func isLegitimate(v *model.View) bool {
	if v.Sum(strays) != 0 {
		return false
	}
	w := programOf(v)
	if v.Sum(inFlight) > int64(w.tokens) {
		return false
	}
	for p := range w.nodes {
		if p != w.root && w.nodes[p].t.Get(v.C[p]) == isTok && !w.isLive(p, v.C) {
			return false
		}
	}
	return !w.rules.has(keeping) || isAccounted(v)
}

// isLive tells whether the way from p up to the root, or to the broadcast that has not come here yet, is free of F. The levels of
// normal processes fall on the way, so it ends.
func (w *program) isLive(p int, c model.Configuration) bool {
	for {
		parent := w.parent(p, c)
		if parent == 0 {
			return true // p has left the network
		}
		p = int(w.target[w.nodes[p].links+int(parent)-1])
		switch k := w.kind(p, c); {
		case k == isF:
			return false
		case k == isB:
			return true
		case p == w.root:
			return k != isC
		}
	}
}

func isPrivileged(v *model.View, p int) bool {
	return programOf(v).isPrivileged(p, v.C)
}

func (w *program) isPrivileged(p int, c model.Configuration) bool {
	if w.rules.has(keeping) {
		return w.nodes[p].h.Get(c[p]) == 1
	}
	return w.Enabled(p, c)&privileged != 0
}

func phase(v *model.View, p int) model.Phase {
	if isPrivileged(v, p) {
		return model.Inside
	}
	return model.Waiting
}

func isSafe(v *model.View) bool { return v.Sum(privileges) <= int64(programOf(v).tokens) }

func isNormal(v *model.View) bool {
	w := programOf(v)
	for p := range w.nodes {
		if p == w.root {
			continue
		}
		if s := w.look(p, v.C); !w.isNormalByPaper(&s) {
			return false
		}
	}
	return true
}

func whyUnsafe(v *model.View) string {
	return fmt.Sprintf("%d processes are privileged at once, l is %d", v.Sum(privileges), programOf(v).tokens)
}

func whyStray(v *model.View) string {
	return fmt.Sprintf("%d processes are not normal or not in the tree, %d tokens with l = %d", v.Sum(strays), v.Sum(inFlight), programOf(v).tokens)
}

var properties = []model.Property{
	{
		Name:  "stabilizes",
		Text:  "from some moment on the tree is complete, everybody is normal and there are at most l tokens, whatever the start",
		Claim: model.Stabilizes,
		Holds: isLegitimate,
		Why:   whyStray,
	},
	{
		Name:  "safety",
		Text:  "once legitimate, at most l processes are privileged",
		Claim: model.Always,
		Holds: func(v *model.View) bool { return isSafe(v) || !isLegitimate(v) },
		Why:   whyUnsafe,
	},
	{
		Name:      "exclusion",
		Text:      "at most l processes are privileged",
		Claim:     model.Always,
		CleanOnly: true,
		Holds:     isSafe,
		Why:       whyUnsafe,
	},
	{
		Name:  "kept",
		Text:  "once legitimate, a privilege lasts until it is used",
		Claim: model.AlwaysStep,
		HoldsStep: func(before, after *model.View, step []model.Move) bool {
			return !isLegitimate(before) || isKept(before, after, step)
		},
	},
	{
		Name:  "delivery",
		Text:  "once legitimate, a token is passed on until it comes to a leaf of the tree",
		Claim: model.AlwaysStep,
		HoldsStep: func(before, after *model.View, step []model.Move) bool {
			return !isLegitimate(before) || isDelivered(before, after, step)
		},
	},
	{
		Name:  "no-deadlock",
		Text:  "somebody can always act",
		Claim: model.Rests,
		Holds: func(*model.View) bool { return false },
	},
	{
		Name:     "service",
		Text:     "every process is privileged again and again",
		Claim:    model.Recurs,
		HoldsFor: func(v *model.View, p int) bool { return isPrivileged(v, p) },
	},
}

// isKept tells whether everybody who was privileged has acted or still is.
func isKept(before, after *model.View, step []model.Move) bool {
	for p := range before.System.Graph().Len() {
		if isPrivileged(before, p) && !isPrivileged(after, p) && !hasActed(p, step) {
			return false
		}
	}
	return true
}

// isDelivered tells whether the tokens are as many as before, less those that were taken by leaves, and l more if the root
// has ended a wave.
func isDelivered(before, after *model.View, step []model.Move) bool {
	w := programOf(before)
	want := before.Sum(inFlight)
	for _, m := range step {
		switch {
		case m.Kind != model.Act:
			return true
		case m.Arg == a5:
			want += int64(w.tokens)
		case m.Arg == a6:
			if s := w.look(int(m.At), before.C); s.next == 0 {
				want--
			}
		}
	}
	return after.Sum(inFlight) == want
}

func hasActed(p int, step []model.Move) bool {
	for _, m := range step {
		if int(m.At) == p || m.Kind.IsFault() {
			return true
		}
	}
	return false
}

// claims of the paper that are asked for with --claims paper.
var claims = []model.Property{
	{
		Name:  "normal",
		Text:  "from some moment on everybody is normal (Theorem 4.1, Corollary 4.1)",
		Claim: model.Stabilizes,
		Holds: isNormal,
	},
	{
		Name:      "all-at-once",
		Text:      "l processes are privileged at some moment (Notes on Liveness, for l ≤ ⌈n/3⌉)",
		Claim:     model.Sometimes,
		CleanOnly: true,
		Holds:     func(v *model.View) bool { return v.Sum(privileges) == int64(programOf(v).tokens) },
	},
}
