// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

// errProtocol is returned for a message that makes no sense where it stands.
type errProtocol string

func (e errProtocol) Error() string { return string(e) }

// errInternal is a bug of ours, such as a panic.
var errInternal = errors.New("an internal error; the log of the node says more")

// kinds is the one table of errors: the allocator's error, the reason for programs, and the code for callers that only know
// Connect or gRPC.
var kinds = []struct {
	err    error
	reason allotv1.Reason
	code   connect.Code
}{
	{allocator.ErrUnknownPool, allotv1.Reason_REASON_UNKNOWN_POOL, connect.CodeNotFound},
	{allocator.ErrPoolExists, allotv1.Reason_REASON_POOL_EXISTS, connect.CodeAlreadyExists},
	{allocator.ErrUnknownSession, allotv1.Reason_REASON_UNKNOWN_SESSION, connect.CodeNotFound},
	{allocator.ErrUnknownGrant, allotv1.Reason_REASON_UNKNOWN_GRANT, connect.CodeNotFound},
	{allocator.ErrNotNow, allotv1.Reason_REASON_NOT_NOW, connect.CodeDeadlineExceeded},
	{allocator.ErrCancelled, allotv1.Reason_REASON_CANCELLED, connect.CodeCanceled},
	{allocator.ErrPoolDeleted, allotv1.Reason_REASON_POOL_DELETED, connect.CodeNotFound},
	{allocator.ErrLeaseLost, allotv1.Reason_REASON_LEASE_LOST, connect.CodeAborted},
	{allocator.ErrSessionEnded, allotv1.Reason_REASON_SESSION_ENDED, connect.CodeAborted},
	{allocator.ErrEvicted, allotv1.Reason_REASON_EVICTED, connect.CodeAborted},
	{allocator.ErrRepaired, allotv1.Reason_REASON_REPAIRED, connect.CodeAborted},
	{allocator.ErrLimit, allotv1.Reason_REASON_LIMIT, connect.CodeResourceExhausted},
	{allocator.ErrUnavailable, allotv1.Reason_REASON_UNAVAILABLE, connect.CodeUnavailable},
	{context.Canceled, allotv1.Reason_REASON_CANCELLED, connect.CodeCanceled},
	{context.DeadlineExceeded, allotv1.Reason_REASON_NOT_NOW, connect.CodeDeadlineExceeded},
}

// problemOf tells what went wrong, with the code that goes with it. What is not in the table is a failure of the node: its
// text may say too much, so it goes to the log and not to the caller.
func problemOf(err error) (*allotv1.Problem, connect.Code) {
	var value *allocator.ValueError
	if errors.As(err, &value) {
		return &allotv1.Problem{
			Reason: allotv1.Reason_REASON_BAD_VALUE, Text: printable(err.Error(), maxText),
			Field: value.Field, Value: printable(value.Value, maxText), Allowed: value.Allowed,
		}, connect.CodeInvalidArgument
	}
	problem := &allotv1.Problem{Text: printable(err.Error(), maxText)}
	var unknown *access.UnknownError
	var forbidden *access.ForbiddenError
	var protocol errProtocol
	switch {
	case errors.As(err, &unknown):
		problem.Reason = allotv1.Reason_REASON_UNAUTHENTICATED
		return problem, connect.CodeUnauthenticated
	case errors.As(err, &forbidden):
		problem.Reason = allotv1.Reason_REASON_FORBIDDEN
		return problem, connect.CodePermissionDenied
	case errors.As(err, &protocol):
		problem.Reason = allotv1.Reason_REASON_PROTOCOL
		return problem, connect.CodeInvalidArgument
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			problem.Reason = k.reason
			return problem, k.code
		}
	}
	problem.Reason, problem.Text = allotv1.Reason_REASON_INTERNAL, errInternal.Error()
	return problem, connect.CodeInternal
}

// failure is problemOf for calls: a Connect error with the problem as its detail. An error that is one already, such as
// Connect's own for a body that cannot be decoded, is left alone.
func failure(err error) error {
	var done *connect.Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	problem, code := problemOf(err)
	out := connect.NewError(code, errors.New(problem.GetText()))
	if detail, err := connect.NewErrorDetail(problem); err == nil {
		out.AddDetail(detail)
	}
	return out
}
