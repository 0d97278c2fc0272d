package statistics

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// Kind says what an error means for whoever asked. Whichever it is: nothing is known of the server's zones.
type Kind string

const (
	// Unreachable means no answer, or one of something in between: connection refused or broken, timeouts, an HTTP status that
	// BIND does not have.
	Unreachable Kind = "Unreachable"
	// NotSupported means that the server does not tell its zones as JSON (404): BIND was built without it.
	NotSupported Kind = "NotSupported"
	// Malformed means an answer that cannot be right: cut off, not JSON, too large, or without what must be in it.
	Malformed Kind = "Malformed"
)

// Error is why a server could not be asked. Its text holds nothing of the answer's body.
type Error struct {
	Kind Kind
	// Address is the server's, as it was given.
	Address string
	// Status is the HTTP status, 0 without an answer.
	Status int
	// Detail says more, for people.
	Detail string
	// Err is the cause where it is not the server's: the caller gave up.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("BIND at %q", e.Address)
	if e.Status != 0 {
		text += fmt.Sprintf(": HTTP %d", e.Status)
	}
	return text + ": " + e.Detail
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

// errNoAddress says that there is no server to ask.
var errNoAddress = errors.New("not an IP address")

// statusError is an HTTP status other than 200.
type statusError int

// Error implements error.
func (e statusError) Error() string { return http.StatusText(int(e)) }

// failure says what became of a request.
func failure(ctx context.Context, address string, err error) *Error {
	e := &Error{Kind: Unreachable, Address: address}
	status, isStatus := errors.AsType[statusError](err)
	e.Status = int(status)
	switch malformed := answers.Malformation(err); {
	case ctx.Err() != nil:
		e.Detail, e.Err = "given up: "+ctx.Err().Error(), ctx.Err()
	case errors.Is(err, errNoAddress):
		e.Detail = errNoAddress.Error()
	case e.Status == http.StatusNotFound:
		e.Kind, e.Detail = NotSupported, "it does not tell its zones as JSON"
	case isStatus:
		e.Detail = "not what BIND's statistics channel answers"
	case malformed != "":
		e.Kind, e.Detail = Malformed, malformed
	default:
		e.Detail = answers.Disconnection(err)
	}
	return e
}
