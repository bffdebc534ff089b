// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
)

// Action is something that a rule may allow.
type Action string

// The actions. Each allows what it says and no more: whoever is to take units and list them needs both.
const (
	See    Action = "see"    // get, list and watch a pool, its holders and its waiters
	Take   Action = "take"   // acquire and release units
	Manage Action = "manage" // create, resize and delete the pool
	Evict  Action = "evict"  // take units away from others
)

var actions = []Action{See, Take, Manage, Evict}

// Options say who is known and what is allowed.
type Options struct {
	Tokens []Token
	// Certificates says that client certificates count. The server must be told to ask for them and which authority to
	// trust. The name of the bearer is the common name of the certificate or, without one, its first DNS name or URI.
	Certificates bool
	Rules        []Rule
}

// Token makes its bearer known under a name.
type Token struct {
	Name string
	Hash string // "sha256:" and 64 hexadecimal digits, as Hash gives it
}

// Rule allows some actions. Who and Pools are names in which "*" stands for any text.
type Rule struct {
	Who   []string
	Pools []string
	May   []string // see, take, manage, evict
}

// OptionError is an option that makes no sense.
type OptionError struct{ Key, Value, Allowed string }

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Key, e.Value, e.Allowed)
}

// UnknownError tells why a caller is not known.
type UnknownError struct{ Why string }

func (e *UnknownError) Error() string { return e.Why }

// ForbiddenError is what no rule allows.
type ForbiddenError struct {
	Who    string
	Action Action
	Pool   string
}

func (e *ForbiddenError) Error() string {
	if e.Pool == "" {
		return fmt.Sprintf("no rule allows %q to %s", e.Who, e.Action)
	}
	return fmt.Sprintf("no rule allows %q to %s the pool %q", e.Who, e.Action, e.Pool)
}

// Keeper answers who a caller is and what it may do. It is safe for several goroutines.
type Keeper struct {
	tokens       map[[sha256.Size]byte]string // hash to name
	certificates bool
	rules        []rule
}

type rule struct {
	who, pools []string
	may        map[Action]bool
}

// New makes a keeper, or returns an OptionError.
func New(o Options) (*Keeper, error) {
	k := &Keeper{tokens: map[[sha256.Size]byte]string{}, certificates: o.Certificates}
	for _, t := range o.Tokens {
		hash, err := parseHash(t.Hash)
		if err != nil {
			return nil, err
		}
		if t.Name == "" {
			return nil, &OptionError{"token name", t.Name, "it must not be empty"}
		}
		if _, ok := k.tokens[hash]; ok {
			return nil, &OptionError{"token", t.Name, "another name has the same token"}
		}
		k.tokens[hash] = t.Name
	}
	for _, r := range o.Rules {
		made := rule{who: r.Who, pools: r.Pools, may: map[Action]bool{}}
		for _, m := range r.May {
			if !isAction(m) {
				return nil, &OptionError{"rule may", m, fmt.Sprintf("one of %v", actions)}
			}
			made.may[Action(m)] = true
		}
		if len(r.Who) == 0 || len(r.Pools) == 0 || len(r.May) == 0 {
			return nil, &OptionError{"rule", fmt.Sprint(r), "it needs who, pools and may"}
		}
		k.rules = append(k.rules, made)
	}
	if len(k.rules) > 0 && !k.IsClosed() {
		return nil, &OptionError{"rules", fmt.Sprint(len(k.rules)), "rules need tokens or certificates, or nobody can be told apart"}
	}
	return k, nil
}

func isAction(name string) bool {
	for _, a := range actions {
		if string(a) == name {
			return true
		}
	}
	return false
}

// IsClosed tells whether callers must be known.
func (k *Keeper) IsClosed() bool { return len(k.tokens) > 0 || k.certificates }

// Authenticate tells the name of the caller, or why it is not known. Nobody needs to be known to a keeper that is not
// closed.
func (k *Keeper) Authenticate(r *http.Request) (string, error) {
	if !k.IsClosed() {
		return "", nil
	}
	header := r.Header.Get("Authorization")
	if header != "" {
		scheme, token, ok := strings.Cut(header, " ")
		if !ok || !strings.EqualFold(scheme, "bearer") || token == "" {
			return "", &UnknownError{`the Authorization header is broken: it must be "Bearer" and a token`}
		}
		name, ok := k.tokens[sha256.Sum256([]byte(token))]
		if !ok {
			return "", &UnknownError{"the token is not known"}
		}
		return name, nil
	}
	if k.certificates && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		leaf := r.TLS.VerifiedChains[0][0]
		switch {
		case leaf.Subject.CommonName != "":
			return leaf.Subject.CommonName, nil
		case len(leaf.DNSNames) > 0:
			return leaf.DNSNames[0], nil
		case len(leaf.URIs) > 0:
			return leaf.URIs[0].String(), nil
		}
		return "", &UnknownError{"the client certificate has no name"}
	}
	switch {
	case k.certificates && len(k.tokens) > 0:
		return "", &UnknownError{"a token or a client certificate is needed"}
	case k.certificates:
		return "", &UnknownError{"a client certificate is needed"}
	}
	return "", &UnknownError{"a token is needed"}
}

// Allow returns nil if some rule allows it, and else a ForbiddenError.
func (k *Keeper) Allow(who string, what Action, pool string) error {
	if len(k.rules) == 0 {
		return nil
	}
	for _, r := range k.rules {
		if r.may[what] && matchesAny(r.who, who) && matchesAny(r.pools, pool) {
			return nil
		}
	}
	return &ForbiddenError{Who: who, Action: what, Pool: pool}
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches compares from the left, and remembers the last star in case its text must grow. That takes time in proportion to
// the product of the lengths at worst, whatever the pattern.
func matches(pattern, name string) bool {
	p, n, star, grown := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, grown = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			grown++
			p, n = star+1, grown
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

const hashPrefix = "sha256:"

// Hash is what the options keep of a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hashPrefix + hex.EncodeToString(sum[:])
}

func parseHash(text string) (hash [sha256.Size]byte, err error) {
	digits, ok := strings.CutPrefix(text, hashPrefix)
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != len(hash) {
		// The text may be a token that was pasted here by mistake, so it is not repeated.
		return hash, &OptionError{"token hash", "...", "sha256: and 64 hexadecimal digits, as `printf %s TOKEN | sha256sum` prints them"}
	}
	return [sha256.Size]byte(raw), nil
}

// NewToken makes a token with 256 bits of chance.
func NewToken() string {
	var raw [32]byte
	// It never fails: without chance the program ends.
	_, _ = rand.Read(raw[:])
	return "allot_" + base64.RawURLEncoding.EncodeToString(raw[:])
}
