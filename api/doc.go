// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package api serves the API of a node: gRPC, gRPC-Web and HTTP with JSON from one definition (api/v1/allot.proto), and
// beside it /metrics, /healthz and /readyz.
//
//	handler, err := api.NewHandler(backend, api.Options{})
//	server := api.NewServer(handler, nil)
//	go server.Serve(listener)
//	...
//	handler.Close() // ends the streams; their sessions live on for their TTL
//	server.Shutdown(ctx)
//
// A serving translates. What is decided is decided by the Backend, which is the allocator of the node; errors go out with
// one code and one reason each (see problem.go), names and texts of strangers are looked at here before they go in
// (names.go), and so is who may do what (package access).
//
// # Sessions
//
// A session is a conversation of small messages, and it is what the speed of a contended pool depends on: between a release
// and the next grant lie one message to the node and one to the next client. So a message carries any number of operations or
// events, and each stream has one writer, which sends all that has come up since it last wrote in one message and one write.
//
// The conversation is spoken over a Connect stream (HTTP/2) by anybody, and by the Go client over an upgraded HTTP/1.1
// connection: the same protobuf messages, each after its length, without the frames, flow control and goroutines of HTTP/2
// between them. A client behind a proxy that does not let the upgrade through gets the Connect stream instead.
package api
