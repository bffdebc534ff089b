// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "fmt"

// RefusedError is returned when a claim makes no sense as it was made. Nothing has been asked of any resource then.
type RefusedError struct {
	Resource string // the one concerned, if it is about one
	Reason   string
}

func (e *RefusedError) Error() string {
	if e.Resource == "" {
		return "claim refused: " + e.Reason
	}
	return fmt.Sprintf("claim refused: resource %q %s", e.Resource, e.Reason)
}

// Resolve turns the names of a claim into the numbers of its resources. It refuses a claim that is empty, that names more
// than most resources, one that number does not know, or one twice. A name that stands twice is more likely a mistake than
// a wish, so it is not left out in silence.
func Resolve(names []string, number func(name string) (int, bool), most int) ([]int, error) {
	switch {
	case len(names) == 0:
		return nil, &RefusedError{Reason: "it names no resource"}
	case len(names) > most:
		return nil, &RefusedError{Reason: fmt.Sprintf("it names %d resources, at most %d are allowed", len(names), most)}
	}
	seen := make(map[int]bool, len(names))
	list := make([]int, 0, len(names))
	for _, name := range names {
		i, ok := number(name)
		switch {
		case !ok:
			return nil, &RefusedError{Resource: name, Reason: "is not known"}
		case seen[i]:
			return nil, &RefusedError{Resource: name, Reason: "is named twice"}
		}
		seen[i] = true
		list = append(list, i)
	}
	return list, nil
}
