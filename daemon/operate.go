// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"encoding/json"
	"mime"
	"net/http"

	"allot/api"
	"allot/api/access"
)

// ForgetPath is where a node is asked to remove another one that will not come back from the control plane.
const ForgetPath = "/operate/forget"

// ForgetRequest is the body of a POST to ForgetPath, as JSON.
type ForgetRequest struct {
	// Node is the name of the node that will not come back.
	Node string `json:"node"`
}

// withOperations serves, beside the API, what only the operators of the nodes need.
func (d *Daemon) withOperations(h http.Handler, keeper *access.Keeper) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("POST "+ForgetPath, func(w http.ResponseWriter, r *http.Request) { d.forget(w, r, keeper) })
	return mux
}

func (d *Daemon) forget(w http.ResponseWriter, r *http.Request, keeper *access.Keeper) {
	who, err := keeper.Authenticate(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	// The empty name is matched by "*" alone: it takes somebody who may manage every pool.
	if err := keeper.Allow(who, access.Manage, ""); err != nil {
		http.Error(w, err.Error()+" all pools", http.StatusForbidden)
		return
	}
	// A page of a stranger in a browser on this machine can send forms, but not JSON.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "the body must be JSON: Content-Type: application/json", http.StatusUnsupportedMediaType)
		return
	}
	var body ForgetRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&body); err != nil {
		http.Error(w, "the body must be {\"node\": \"NAME\"}: "+err.Error(), http.StatusBadRequest)
		return
	}
	for _, m := range d.alloc.Network().Members {
		if m.Name == body.Node {
			http.Error(w, "node "+body.Node+" is a member of the network: stop it first", http.StatusConflict)
			return
		}
	}
	err = d.bus.Forget(r.Context(), body.Node)
	d.audit.Record(r.Context(), api.Deed{Who: who, Peer: r.RemoteAddr, What: "forget", Details: "node " + body.Node, Err: err})
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	d.log.Info("forgotten", "forgotten", body.Node, "by", who)
	w.WriteHeader(http.StatusNoContent)
}
