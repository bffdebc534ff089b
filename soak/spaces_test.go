// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import "net/http"

// spaces are network namespaces.
type spaces struct{}

func (s *spaces) client(*process) *http.Client { return quick }
