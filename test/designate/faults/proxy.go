// Package faults puts a proxy in front of a real HTTP server, which breaks in ways that the server itself cannot be made to:
// what passes is the server's own, up to where a fault begins.
package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Proxy is a proxy in front of one server. It counts requests and keeps nothing of them.
type Proxy struct {
	// URL is where it listens, without a slash at the end. It stays the same while connections are refused.
	URL string

	address string
	target  *url.URL
	pass    *httputil.ReverseProxy

	mutex    sync.Mutex
	server   *http.Server
	path     string
	fault    Fault
	requests map[string]int
	thaw     chan struct{}
}

// Fault answers a request instead of the server, or with its help. Its thaw is closed when the fault is mended.
type Fault func(p *Proxy, w http.ResponseWriter, r *http.Request, thaw <-chan struct{})

// Start puts a proxy in front of a server. An address with the port 0 lets the kernel choose one.
func Start(address, target string) (*Proxy, error) {
	parsed, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	p := &Proxy{address: address, target: parsed, requests: map[string]int{}, thaw: make(chan struct{})}
	p.pass = &httputil.ReverseProxy{
		// The host stays the one that was asked for, so that links in answers lead here.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = parsed.Scheme, parsed.Host
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // What the server does not answer, the proxy does not either.
		},
	}
	if err := p.Accept(); err != nil {
		return nil, err
	}
	p.URL = "http://" + p.address
	return p, nil
}

// Accept lets the proxy take connections, on the same port as before.
func (p *Proxy) Accept() error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.address = listener.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	server := p.server
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("the proxy in front of %s ended: %v", p.target, err))
		}
	}()
	return nil
}

// Refuse closes every connection and refuses new ones until Accept.
func (p *Proxy) Refuse() error {
	p.Mend()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.server.Close()
}

// Break has requests to paths that begin with a prefix meet a fault, instead of the one before, until Mend.
func (p *Proxy) Break(prefix string, fault Fault) {
	p.Mend()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.path, p.fault = prefix, fault
}

// Mend ends the fault, also for requests that it holds up.
func (p *Proxy) Mend() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.fault = nil
	close(p.thaw)
	p.thaw = make(chan struct{})
}

// Requests counts the requests so far whose path begins with a prefix, broken ones too.
func (p *Proxy) Requests(prefix string) int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	count := 0
	for path, n := range p.requests {
		if strings.HasPrefix(path, prefix) {
			count += n
		}
	}
	return count
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	p.requests[r.URL.Path]++
	fault, thaw := p.fault, p.thaw
	if !strings.HasPrefix(r.URL.Path, p.path) {
		fault = nil
	}
	p.mutex.Unlock()
	if fault == nil {
		p.pass.ServeHTTP(w, r)
		return
	}
	fault(p, w, r, thaw)
}
