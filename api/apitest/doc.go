// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package apitest has a Backend in memory, for tests of what stands before or behind the API: one node, pools that serve
// strictly in the order of asking, sessions with a TTL, and switches for everything that can go wrong.
//
//	backend := apitest.New(apitest.Options{})
//	address := apitest.Serve(t, backend, api.Options{})
//
// It is a plain and slow statement of what a Backend promises, not a part of the service.
package apitest
