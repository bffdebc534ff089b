// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"errors"
	"fmt"

	"connectrpc.com/connect"

	allotv1 "allot/api/v1"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrUnreachable is returned when no node could be reached.
	ErrUnreachable = errors.New("no node can be reached")
	// ErrClosed is returned when the client has been closed.
	ErrClosed = errors.New("the client is closed")
	// ErrLost is wrapped by every LostError.
	ErrLost = errors.New("the grant is lost")

	// ErrUnknownPool is returned when no pool has the name.
	ErrUnknownPool = errors.New("no such pool")
	// ErrPoolExists is returned when a pool of the name is there already.
	ErrPoolExists = errors.New("the pool exists already")
	// ErrUnknownSession is returned when a session has ended or never was.
	ErrUnknownSession = errors.New("no such session")
	// ErrUnknownGrant is returned when a grant has ended or never was.
	ErrUnknownGrant = errors.New("no such grant")
	// ErrNotNow is returned when units were not to be had at once, or not in the time that was given.
	ErrNotNow = errors.New("not acquired in time")
	// ErrCancelled is returned when a request was taken back.
	ErrCancelled = errors.New("the request was cancelled")
	// ErrPoolDeleted is returned when the pool of a request or grant was deleted.
	ErrPoolDeleted = errors.New("the pool was deleted")
	// ErrLeaseLost is the reason of a loss: the node was cut off from the others.
	ErrLeaseLost = errors.New("the node was cut off from the others")
	// ErrSessionEnded is the reason of a loss: client and node did not hear of each other in time.
	ErrSessionEnded = errors.New("the session ended")
	// ErrEvicted is the reason of a loss: a person took the units back.
	ErrEvicted = errors.New("evicted")
	// ErrRepaired is the reason of a loss: after a fault a unit had two holders, and this one gave way.
	ErrRepaired = errors.New("gave way to another holder after a fault")
	// ErrLimit is returned when a limit of the node is reached.
	ErrLimit = errors.New("a limit of the node is reached")
	// ErrUnavailable is returned when the node is not part of a working network now.
	ErrUnavailable = errors.New("the node is not part of a working network now")
	// ErrUnauthenticated is returned when the node wants a token or a certificate, or does not know the one that it was shown.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrForbidden is returned when the rules of the node do not allow it.
	ErrForbidden = errors.New("forbidden")
	// ErrProtocol is returned when client and node do not understand each other.
	ErrProtocol = errors.New("client and node do not understand each other")
	// ErrInternal is returned when the node has failed; its log says more.
	ErrInternal = errors.New("internal error of the node")
	// ErrBadValue is wrapped by every ValueError.
	ErrBadValue = errors.New("a value makes no sense")
)

var sentinels = map[allotv1.Reason]error{
	allotv1.Reason_REASON_BAD_VALUE:       ErrBadValue,
	allotv1.Reason_REASON_UNKNOWN_POOL:    ErrUnknownPool,
	allotv1.Reason_REASON_POOL_EXISTS:     ErrPoolExists,
	allotv1.Reason_REASON_UNKNOWN_SESSION: ErrUnknownSession,
	allotv1.Reason_REASON_UNKNOWN_GRANT:   ErrUnknownGrant,
	allotv1.Reason_REASON_NOT_NOW:         ErrNotNow,
	allotv1.Reason_REASON_CANCELLED:       ErrCancelled,
	allotv1.Reason_REASON_POOL_DELETED:    ErrPoolDeleted,
	allotv1.Reason_REASON_LEASE_LOST:      ErrLeaseLost,
	allotv1.Reason_REASON_SESSION_ENDED:   ErrSessionEnded,
	allotv1.Reason_REASON_EVICTED:         ErrEvicted,
	allotv1.Reason_REASON_REPAIRED:        ErrRepaired,
	allotv1.Reason_REASON_LIMIT:           ErrLimit,
	allotv1.Reason_REASON_UNAVAILABLE:     ErrUnavailable,
	allotv1.Reason_REASON_UNAUTHENTICATED: ErrUnauthenticated,
	allotv1.Reason_REASON_FORBIDDEN:       ErrForbidden,
	allotv1.Reason_REASON_PROTOCOL:        ErrProtocol,
	allotv1.Reason_REASON_INTERNAL:        ErrInternal,
}

// ValueError is a value that makes no sense, such as a request for no unit at all. It wraps ErrBadValue.
type ValueError struct {
	Field   string // what the value is for
	Value   string
	Allowed string // what would be allowed
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Allowed) }

func (e *ValueError) Unwrap() error { return ErrBadValue }

// LostError is the loss of a grant. It wraps ErrLost and the reason.
type LostError struct {
	Pool  string
	Grant string // its id
	Err   error  // ErrEvicted, ErrLeaseLost, ErrSessionEnded, ...
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the grant of pool %s is lost: %s", e.Pool, e.Err)
}

func (e *LostError) Unwrap() []error { return []error{ErrLost, e.Err} }

// refusal is what a node said no with: the sentinel for programs, the text for people.
type refusal struct {
	sentinel error
	text     string
}

func (e *refusal) Error() string { return e.text }

func (e *refusal) Unwrap() error { return e.sentinel }

// errorOf makes an error of a problem.
func errorOf(p *allotv1.Problem) error {
	if p.GetReason() == allotv1.Reason_REASON_BAD_VALUE {
		return &ValueError{Field: p.GetField(), Value: p.GetValue(), Allowed: p.GetAllowed()}
	}
	sentinel := sentinels[p.GetReason()]
	switch {
	case sentinel == nil: // a node that is newer than we are
		sentinel = ErrInternal
	case p.GetText() == "":
		return sentinel
	}
	return &refusal{sentinel: sentinel, text: p.GetText()}
}

// callError makes an error of what a call returned.
func callError(err error) error {
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return err
	}
	for _, d := range failed.Details() {
		if value, err := d.Value(); err == nil {
			if p, ok := value.(*allotv1.Problem); ok {
				return errorOf(p)
			}
		}
	}
	var sentinel error
	switch failed.Code() {
	case connect.CodeUnavailable:
		sentinel = ErrUnreachable
	case connect.CodeUnauthenticated:
		sentinel = ErrUnauthenticated
	case connect.CodePermissionDenied:
		sentinel = ErrForbidden
	case connect.CodeInvalidArgument, connect.CodeUnimplemented:
		sentinel = ErrProtocol
	case connect.CodeResourceExhausted:
		sentinel = ErrLimit
	case connect.CodeInternal, connect.CodeUnknown, connect.CodeDataLoss:
		sentinel = ErrInternal
	case connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeNotFound, connect.CodeAlreadyExists, connect.CodeAborted,
		connect.CodeFailedPrecondition, connect.CodeOutOfRange:
		return err // the context's own end, or something between us and the node
	default:
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
