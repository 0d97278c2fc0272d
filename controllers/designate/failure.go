package designate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// maxRetryAfter bounds what a server can ask for: the answer of something in between must not silence us for days.
const maxRetryAfter = time.Hour

// zonesRemain is how Designate says that it keeps a pool. The type of that answer says no more than "invalid_operation".
const zonesRemain = "must not contain zones"

// unusable is the error about something that is configured.
func unusable(operation, format string, args ...any) *Error {
	return &Error{Kind: Unusable, Operation: operation, Detail: fmt.Sprintf(format, args...)}
}

// stoppedError is the caller's own error, which ended a listing.
type stoppedError struct{ error }

// Unwrap gives the error back to the caller as it was.
func (e stoppedError) Unwrap() error { return e.error }

// failure says what became of an operation. Whatever the cause, its text is not used as it is unless it is known to hold
// neither bodies nor secrets.
func failure(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if stopped, ok := errors.AsType[stoppedError](err); ok {
		return stopped.error
	}
	if ctx.Err() != nil {
		return &Error{Kind: Unreachable, Operation: operation, Detail: "given up: " + ctx.Err().Error(), Err: ctx.Err()}
	}
	// It does not unwrap. That it was tried at all means that the token had been refused.
	if reauthentication, ok := errors.AsType[*gophercloud.ErrUnableToReauthenticate](err); ok {
		return failure(ctx, operation+" (new token)", reauthentication.ErrReauth)
	}
	if answer, ok := errors.AsType[gophercloud.ErrUnexpectedResponseCode](err); ok {
		return answered(operation, answer.Actual, answer.ResponseHeader, answer.Body)
	}
	if detail := answers.Malformation(err); detail != "" {
		return &Error{Kind: Malformed, Operation: operation, Detail: detail}
	}
	return &Error{Kind: Unreachable, Operation: operation, Detail: answers.Disconnection(err)}
}

// fault is an error as Designate writes it.
type fault struct {
	Code    int    `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
	// Keystone is the same as Keystone writes it.
	Keystone struct {
		Code int `json:"code"`
	} `json:"error"`
}

// answered says what an HTTP status means. Proxies and ingress controllers use the same ones: what the caller may act on
// counts only if the body shows that Designate itself has said it.
func answered(operation string, status int, header http.Header, body []byte) *Error {
	e := &Error{Kind: Unreachable, Operation: operation, Status: status, RetryAfter: retryAfter(header)}
	var said fault
	if json.Unmarshal(body, &said) != nil {
		said = fault{}
	}
	ours := said.Code == status && said.Type != ""
	if ours && plain(said.Type) {
		e.Detail = said.Type
	}
	e.Kind = kindOf(status, header, said, ours)
	switch {
	case status < http.StatusMultipleChoices:
		e.Detail = "another status than this operation has"
	case status < http.StatusBadRequest:
		e.Detail = "redirected, which is not followed: configure the address where the API is"
	case status == http.StatusUnauthorized:
		e.Detail = "the credentials are not taken"
	case status == http.StatusForbidden:
		e.Detail = "the credentials are not those of an administrator"
	case e.Detail == "" && e.Kind == Unreachable && status < http.StatusInternalServerError:
		e.Detail = "not an answer of Designate: is the endpoint right, and is there anything behind it?"
	}
	return e
}

func kindOf(status int, header http.Header, said fault, ours bool) Kind {
	switch {
	case status < http.StatusMultipleChoices:
		return Malformed
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Unauthorised
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && header.Get("Retry-After") != "":
		return Overloaded
	case status < http.StatusBadRequest || status >= http.StatusInternalServerError:
		return Unreachable
	case ours:
		return refusal(said)
	case said.Keystone.Code == status && status != http.StatusNotFound:
		return Refused
	}
	return Unreachable
}

// refusal is what Designate means by a status of 400 and more.
func refusal(said fault) Kind {
	switch {
	case said.Code == http.StatusNotFound:
		// "not_found" alone is what it says of a URL that it does not know.
		if strings.HasSuffix(said.Type, "_not_found") {
			return NotFound
		}
		return Unreachable
	case said.Code == http.StatusConflict:
		return AlreadyExists
	case strings.Contains(said.Message, zonesRemain):
		return PoolNotEmpty
	case said.Type == "marker_not_found":
		// The zone after which the next page was to begin has gone meanwhile: what was listed so far is not the whole.
		return Malformed
	}
	return Refused
}

// plain says that a word of an answer is one: nothing else gets into a message.
func plain(word string) bool {
	return len(word) <= 64 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// retryAfter is how long a server asks to wait, in seconds or as a date. A date is held against the server's own, for the
// clocks of two machines differ; without that it says nothing.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(0, seconds), int64(maxRetryAfter/time.Second))) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(0, until.Sub(now)), maxRetryAfter)
}
