package statistics

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// path is where BIND tells its zones, in the first version of that format.
const path = "/json/v1/zones"

// Limits bound what a client waits for. The zero value stands for the defaults.
type Limits struct {
	// Request is how long one server may take, from the connection to the last byte of its answer. Default: 30s.
	Request time.Duration
	// Idle is how long an answer that has begun may pause. Default: 10s.
	Idle time.Duration
	// Body is how many bytes an answer may have. Default: 256 MiB, for a zone takes about 200, so that is more than a million.
	Body int64
}

const (
	defaultRequestTimeout = 30 * time.Second
	defaultIdleTimeout    = 10 * time.Second

	// connectTimeout is short: control Services are near.
	connectTimeout = 5 * time.Second
	defaultBody    = 256 << 20
	// maxHeader is the same for the header of an answer. BIND's has about 250 bytes.
	maxHeader = 16 << 10
)

// Client asks servers for their zones. It may be used by several goroutines at once, keeps no connection, and makes no
// request twice.
type Client struct {
	http http.Client
	port int
}

// NewClient makes a client for servers whose statistics channels are where builders puts them.
func NewClient(limits Limits) *Client {
	return newClient(limits, builders.StatisticsPort, newTransport())
}

func newClient(limits Limits, port int, transport http.RoundTripper) *Client {
	if limits.Request <= 0 {
		limits.Request = defaultRequestTimeout
	}
	if limits.Idle <= 0 {
		limits.Idle = defaultIdleTimeout
	}
	if limits.Body <= 0 {
		limits.Body = defaultBody
	}
	return &Client{
		http: answers.Client(transport, answers.Limits{Request: limits.Request, Idle: limits.Idle, Body: limits.Body}),
		port: port,
	}
}

// newTransport makes a connection for each request: by the next one, the Service may lead to another pod. Proxies of the
// environment do not count, for no other server can answer in place of this one.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// Zones are all zones that the server at an IP address has in its default view, besides those that BIND makes by itself.
// Errors are of type *Error.
//
// It cannot see zones with `zone-statistics none`: BIND does not tell them.
func (c *Client) Zones(ctx context.Context, address string) (*Zones, error) {
	zones, err := c.ask(ctx, address)
	if err != nil {
		return nil, failure(ctx, address, err)
	}
	return zones, nil
}

func (c *Client) ask(ctx context.Context, address string) (*Zones, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, errNoAddress
	}
	where := url.URL{Scheme: "http", Host: net.JoinHostPort(ip.String(), strconv.Itoa(c.port)), Path: path}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, statusError(response.StatusCode)
	}
	return Decode(response.Body)
}
