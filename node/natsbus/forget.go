// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Forget removes a server that will not come back from the cluster: it no longer counts for the majority, and another gets
// its copy of the store if there is one. A majority must be there, the server itself must not. Its name can be used again
// after five minutes. A bus on an existing NATS cannot do it: the operators of that have the tools of NATS.
func (b *Bus) Forget(ctx context.Context, name string) error {
	if !isName(name) || name == b.o.Node {
		return fmt.Errorf("%w: %.80q", ErrName, name)
	}
	if b.server == nil || b.server.gate == nil {
		return errors.New("this node has no embedded server that is part of a cluster")
	}
	nc, err := nats.Connect("", nats.InProcessServer(b.server.nats), nats.Token(b.server.gate.system), nats.NoReconnect())
	if err != nil {
		return fmt.Errorf("removing the server %q: %w", name, err)
	}
	defer nc.Close()
	request, err := json.Marshal(server.JSApiMetaServerRemoveRequest{Server: name})
	if err != nil {
		return err
	}
	ctx, cancel := b.store.limit(ctx)
	defer cancel()
	answer, err := nc.RequestWithContext(ctx, server.JSApiRemoveServer, request)
	if err != nil {
		return fmt.Errorf("removing the server %q: %w", name, b.store.unavailable(ctx, err))
	}
	var got server.JSApiMetaServerRemoveResponse
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return fmt.Errorf("removing the server %q: %w", name, err)
	}
	if got.Error != nil {
		return fmt.Errorf("removing the server %q: %s", name, got.Error.Description)
	}
	return nil
}
