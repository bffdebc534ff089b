// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package allotv1 is the definition of the API, version 1, as Go types.
//
// The definition is allot.proto beside this file; the rest is generated from it by `make generate`, and `make lint` fails
// when they differ. Clients and calls are in allotv1connect. Neither depends on anything else of allot, so that a client
// can import them alone.
package allotv1
