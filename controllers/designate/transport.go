package designate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits bound what a client waits for. The zero value stands for the defaults.
type Limits struct {
	// Request is how long one request may take, from the connection to the last byte of the answer. Default: 60s.
	Request time.Duration
	// Idle is how long an answer that has begun may pause. Default: 15s.
	Idle time.Duration
	// PageSize is how many records are asked for at a time. Default: 1000, the most that Designate gives.
	PageSize int
}

const (
	defaultRequestTimeout = time.Minute
	defaultIdleTimeout    = 15 * time.Second
	defaultPageSize       = 1000

	// connectTimeout is for the connection, and as long again for TLS on top of it.
	connectTimeout = 10 * time.Second
	// keptFor is how long a connection is kept for the next request.
	keptFor = 90 * time.Second
	// maxBody is what an answer may have at most, in bytes: a page of 1000 zones has about one million.
	maxBody = 16 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Request <= 0 {
		l.Request = defaultRequestTimeout
	}
	if l.Idle <= 0 {
		l.Idle = defaultIdleTimeout
	}
	if l.PageSize <= 0 {
		l.PageSize = defaultPageSize
	}
	return l
}

// Why a transport gave up. The texts are for people.
var (
	errTooSlow  = errors.New("no complete answer in time")
	errPaused   = errors.New("the answer paused for too long")
	errTooLarge = errors.New("the answer is larger than any that makes sense")
)

// roots are the certificates to check servers against; nil for those of the system.
func (a Access) roots() (*x509.CertPool, error) {
	if len(a.CACert) == 0 {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(a.CACert) {
		return nil, unusable(opConfigure, "the key %s of the Secret has no certificate in PEM form", caKey)
	}
	return roots, nil
}

// newTransport makes connections that nobody else shares. Proxies of the environment do not count: which server answers is
// part of what is configured, not of where the operator runs.
func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     keptFor,
	}
}

// newHTTPClient never follows a redirect: the token would go where the answer says.
func newHTTPClient(base http.RoundTripper, limits Limits) http.Client {
	return http.Client{
		Transport:     &bounded{base: base, limits: limits},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded applies the limits to every request, also to those that gophercloud makes by itself.
type bounded struct {
	base   http.RoundTripper
	limits Limits
}

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	whole := time.AfterFunc(b.limits.Request, func() { cancel(errTooSlow) })
	response, err := b.base.RoundTrip(request.WithContext(ctx))
	if err != nil {
		err = orGaveUp(ctx, err)
		whole.Stop()
		cancel(nil)
		return nil, err
	}
	pause := time.AfterFunc(b.limits.Idle, func() { cancel(errPaused) })
	pause.Stop()
	response.Body = &boundedBody{
		body: response.Body, left: maxBody, ctx: ctx, cancel: cancel, whole: whole, pause: pause, idle: b.limits.Idle,
	}
	return response, nil
}

// orGaveUp is why we gave up, if we did, instead of what the connection made of it.
func orGaveUp(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errTooSlow) || errors.Is(cause, errPaused) {
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
		return n, errTooLarge
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
