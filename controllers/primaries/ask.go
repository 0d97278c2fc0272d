package primaries

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

const (
	// timeout is for one answer.
	timeout = 3 * time.Second
	// tries is how often to ask over UDP, where a packet may be lost.
	tries = 2
	// question is a name that is no zone of anybody's (RFC 6761): a primary refuses it, which is an answer.
	question = "designate-pool-operator.invalid."
)

// AskFunc asks a primary, given as host:port, whether it answers, as Ask does.
type AskFunc func(ctx context.Context, address string) error

// Ask asks a primary, given as host:port, for an SOA record over UDP and over TCP, as a server does before it transfers a zone (RFC
// 1035, section 4.2; RFC 5936, section 4). Any DNS message will do. The error says over which of them there was none, in words that are
// the same each time.
func Ask(ctx context.Context, address string) error {
	var faults []error
	for _, transport := range []string{"UDP", "TCP"} {
		if err := askOver(ctx, transport, address); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", transport, err))
		}
	}
	return errors.Join(faults...)
}

func askOver(ctx context.Context, transport, address string) error {
	client := dns.Client{Net: "tcp", Timeout: timeout}
	attempts := 1
	if transport == "UDP" {
		client.Net, attempts = "udp", tries
	}
	var err error
	for range attempts {
		message := new(dns.Msg).SetQuestion(question, dns.TypeSOA)
		message.RecursionDesired = false
		if _, _, err = client.ExchangeContext(ctx, message, address); err == nil {
			return nil
		}
	}
	return plain(err)
}

// plain is an error without the addresses of the connection, of which our port is another one each time.
func plain(err error) error {
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return operation.Err
	}
	return err
}
