package designate

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what an error means for whoever asked.
type Kind string

const (
	// NotFound means that Designate answered that there is no such thing (404).
	NotFound Kind = "NotFound"
	// PoolNotEmpty means that Designate keeps a pool because it sees zones in it.
	PoolNotEmpty Kind = "PoolNotEmpty"
	// AlreadyExists means that something of that name is there already (409).
	AlreadyExists Kind = "AlreadyExists"
	// Refused means that Designate understood and said no (400, 413, 422 ...). Asking again does not help.
	Refused Kind = "Refused"
	// Unauthorised means that the credentials are not taken, or do not belong to an administrator (401, 403).
	Unauthorised Kind = "Unauthorised"
	// Unusable means that what was configured cannot be used: no such cloud in clouds.yaml, no endpoint in the catalogue. It
	// needs a person.
	Unusable Kind = "Unusable"
	// Overloaded means that the server asks for patience (429, or 503 with Retry-After).
	Overloaded Kind = "Overloaded"
	// Unreachable means no answer, or one of something in between (connection refused, timeouts, 5xx). What was asked for may
	// have been done all the same.
	Unreachable Kind = "Unreachable"
	// Malformed means an answer that cannot be right: cut off, not JSON, pages that go round in circles or end too soon.
	Malformed Kind = "Malformed"
)

// Error is why a call failed. Its text holds neither secrets nor bodies.
type Error struct {
	Kind Kind
	// Operation is what was tried, such as "list zones".
	Operation string
	// Status is the HTTP status, 0 without an answer.
	Status int
	// RetryAfter is how long the server asked to wait; 0 when it did not.
	RetryAfter time.Duration
	// Detail says more, for people.
	Detail string
	// Err is the cause where it is not Designate's: the caller gave up, or the Kubernetes API server failed.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	text := "Designate: " + e.Operation
	if e.Status != 0 {
		text += fmt.Sprintf(": HTTP %d", e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap implements what errors.Is and errors.As ask for.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of an error that came from here; Unreachable of any other, for nothing is known then.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unreachable
}

// IsNotFound says that Designate itself answered that there is no such thing.
func IsNotFound(err error) bool { return err != nil && KindOf(err) == NotFound }
