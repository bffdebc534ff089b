// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package access says who a caller is and what it may do.
//
// A caller shows a token ("Authorization: Bearer ...") or a client certificate, and has a name from then on. Rules say what
// the bearer of a name may do with which pools: see them, take units, manage the pool, evict holders.
//
//	keeper, err := access.New(access.Options{
//		Tokens: []access.Token{{Name: "ci", Hash: access.Hash(token)}},
//		Rules:  []access.Rule{{Who: []string{"ci"}, Pools: []string{"gpu-*"}, May: []string{"see", "take"}}},
//	})
//
// What no rule allows is forbidden. Without any rule, whoever is known may do everything; without any token or certificate
// either, everybody may do everything, which a daemon must only allow on loopback.
//
// Tokens are kept as SHA-256 hashes. That is enough for tokens made by NewToken, which hold 256 bits of chance; a password
// that a person made up must not be used as a token.
package access
