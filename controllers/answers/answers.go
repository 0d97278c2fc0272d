// Package answers reads what HTTP servers answer, within limits of time and size, and tells an answer that cannot be right
// from none at all.
package answers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Limits bound what an answer may take. None of them may be 0.
type Limits struct {
	// Request is how long one request may take, from the connection to the last byte of the answer.
	Request time.Duration
	// Idle is how long an answer that has begun may pause.
	Idle time.Duration
	// Body is how many bytes an answer may have, unpacked.
	Body int64
}

// Why a request was given up. The texts are for people.
var (
	ErrTooSlow  = errors.New("no complete answer in time")
	ErrPaused   = errors.New("the answer paused for too long")
	ErrTooLarge = errors.New("the answer is larger than any that makes sense")
)

// Client makes requests through a transport, within limits. It follows no redirect: which server answers is not for an
// answer to say.
func Client(base http.RoundTripper, limits Limits) http.Client {
	return http.Client{
		Transport:     &bounded{base: base, limits: limits},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded applies the limits to every request.
type bounded struct {
	base   http.RoundTripper
	limits Limits
}

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	whole := time.AfterFunc(b.limits.Request, func() { cancel(ErrTooSlow) })
	response, err := b.base.RoundTrip(request.WithContext(ctx))
	if err != nil {
		err = orGaveUp(ctx, err)
		whole.Stop()
		cancel(nil)
		return nil, err
	}
	pause := time.AfterFunc(b.limits.Idle, func() { cancel(ErrPaused) })
	pause.Stop()
	response.Body = &boundedBody{
		body: response.Body, left: b.limits.Body, ctx: ctx, cancel: cancel, whole: whole, pause: pause, idle: b.limits.Idle,
	}
	return response, nil
}

// orGaveUp is why we gave up, if we did, instead of what the connection made of it.
func orGaveUp(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTooSlow) || errors.Is(cause, ErrPaused) {
		return cause
	}
	return err
}

// boundedBody is the body of an answer within the limits.
type boundedBody struct {
	body io.ReadCloser
	// left is how many bytes it may still have.
	left int64
	// ctx is that of the request. It ends with the body.
	ctx          context.Context
	cancel       context.CancelCauseFunc
	whole, pause *time.Timer
	idle         time.Duration
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	b.pause.Reset(b.idle)
	n, err := b.body.Read(p)
	b.pause.Stop()
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return n, ErrTooLarge
	case err != nil && !errors.Is(err, io.EOF):
		return n, orGaveUp(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	b.whole.Stop()
	b.pause.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}
