// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"allot/model"
)

// observer is how the properties look into a protocol.
type observer struct {
	*shape
	userOf func(v *model.View, client int) *user
}

func (o *observer) phase(v *model.View, p int) model.Phase {
	if !o.isClient(p) {
		return model.Idle
	}
	switch o.userOf(v, p).phase {
	case waiting:
		return model.Waiting
	case using:
		return model.Inside
	case idle, closing, gone:
	}
	return model.Idle
}

// users counts the clients that use a resource.
func (o *observer) users(v *model.View, r int) (count, last, another int) {
	for c := range o.clients {
		if u := o.userOf(v, c); u.phase == using && u.need.has(r) {
			count, last, another = count+1, c, last
		}
	}
	return count, last, another
}

func (o *observer) properties() []model.Property {
	list := []model.Property{
		{
			Name: "exclusive", Text: "a resource has at most one user", Claim: model.Always,
			Holds: func(v *model.View) bool { return o.shared(v) < 0 },
			Why: func(v *model.View) string {
				r := o.shared(v)
				_, a, b := o.users(v, r)
				return fmt.Sprintf("r%d is used by c%d and by c%d", r+1, b+1, a+1)
			},
		},
		{
			Name: "used", Text: "a client gets as many resources as a claim may have", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				return o.any(v, func(u *user) bool { return u.phase == using && u.need.len() == o.most })
			},
		},
		{
			Name: "rests", Text: "nothing comes to rest while a client waits: no deadlock", Claim: model.Rests,
			Holds: func(v *model.View) bool { return o.stuck(v) < 0 },
			Why: func(v *model.View) string {
				c := o.stuck(v)
				return fmt.Sprintf("c%d is %s for good", c+1, phaseNames[o.userOf(v, c).phase])
			},
		},
		{
			Name: "served", Text: "every claim is served in the end, and every end of one becomes known", Claim: model.Recurs,
			HoldsFor: func(v *model.View, p int) bool { return !o.isClient(p) || !o.isPending(v, p) },
		},
	}
	if o.clients > 1 {
		list = append(list, model.Property{
			Name: "contended", Text: "a client waits for what another one uses", Claim: model.Sometimes, Holds: o.isContended,
		})
	}
	if o.clients > 1 && o.resources > 1 && o.least*2 <= o.resources {
		list = append(list, model.Property{
			Name: "together", Text: "two clients use different resources at the same time", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				count := 0
				o.any(v, func(u *user) bool {
					if u.phase == using {
						count++
					}
					return false
				})
				return count > 1
			},
		})
	}
	return list
}

// shared is a resource with several users, or -1.
func (o *observer) shared(v *model.View) int {
	var taken set
	for c := range o.clients {
		u := o.userOf(v, c)
		if u.phase != using {
			continue
		}
		if both := taken & u.need; both != 0 {
			return both.first()
		}
		taken |= u.need
	}
	return -1
}

func (o *observer) any(v *model.View, is func(*user) bool) bool {
	for c := range o.clients {
		if is(o.userOf(v, c)) {
			return true
		}
	}
	return false
}

func (o *observer) isPending(v *model.View, c int) bool {
	p := o.userOf(v, c).phase
	return p == waiting || p == closing
}

// stuck is a client that waits for something, or -1.
func (o *observer) stuck(v *model.View) int {
	for c := range o.clients {
		if o.isPending(v, c) {
			return c
		}
	}
	return -1
}

func (o *observer) isContended(v *model.View) bool {
	var taken set
	o.any(v, func(u *user) bool {
		if u.phase == using {
			taken |= u.need
		}
		return false
	})
	return o.any(v, func(u *user) bool { return u.phase == waiting && u.need&taken != 0 })
}
