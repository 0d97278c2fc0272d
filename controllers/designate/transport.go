package designate

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
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

// ofAnswers are those that each answer is held to.
func (l Limits) ofAnswers() answers.Limits {
	return answers.Limits{Request: l.Request, Idle: l.Idle, Body: maxBody}
}

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
