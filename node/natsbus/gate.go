// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"crypto/rand"
	"crypto/subtle"

	"github.com/nats-io/nats-server/v2/server"
)

// gate decides which NATS clients a server of a cluster lets in: the buses of this process, by tokens that are made up at
// the start and told to nobody, and those with the credentials for Listen. The system token opens the system's account,
// from which servers can be removed.
type gate struct {
	server       *Server
	node, system string
}

func newGate(s *Server) *gate {
	return &gate{server: s, node: rand.Text(), system: rand.Text()}
}

// Check implements NATS's interface for it.
func (g *gate) Check(c server.ClientAuthentication) bool {
	shown, access := c.GetOpts(), g.server.o.Access
	switch {
	case isSame(shown.Token, g.node):
		return true
	case isSame(shown.Token, g.system):
		c.RegisterUser(&server.User{Username: "system", Account: g.server.nats.SystemAccount()})
		return true
	case g.server.o.Listen == "":
		return false
	case access.Token != "":
		return isSame(shown.Token, access.Token)
	case access.Password != "":
		return isSame(shown.Username, access.User) && isSame(shown.Password, access.Password)
	default:
		return true // Listen is a loopback address, see validateListen
	}
}

// isSame compares without telling by its time how much of it is the same.
func isSame(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
