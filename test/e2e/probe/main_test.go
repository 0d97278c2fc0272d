package main

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const shortPatience = 300 * time.Millisecond

// server is a DNS server on this machine, with an answer that can be changed.
type server struct {
	port   string
	answer atomic.Pointer[func(answer *dns.Msg) bool]
}

func (s *server) answers(change func(answer *dns.Msg) bool) { s.answer.Store(&change) }

func soa(serial uint32) func(*dns.Msg) bool {
	return func(answer *dns.Msg) bool {
		answer.Authoritative = true
		answer.Answer = []dns.RR{&dns.SOA{
			Hdr: dns.RR_Header{Name: "one.example.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
			Ns:  "ns1.example.", Mbox: "hostmaster.example.", Serial: serial,
		}}
		return true
	}
}

func startServer(t *testing.T) *server {
	t.Helper()
	for range 20 {
		streams, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := net.ListenPacket("udp", streams.Addr().String())
		if err != nil {
			streams.Close()
			continue // Somebody else has the port for UDP.
		}
		s := &server{}
		_, s.port, _ = net.SplitHostPort(streams.Addr().String())
		s.answers(soa(7))
		handler := dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
			answer := new(dns.Msg).SetReply(question)
			if (*s.answer.Load())(answer) {
				_ = w.WriteMsg(answer)
			}
		})
		for _, one := range []*dns.Server{{Listener: streams, Handler: handler}, {PacketConn: packets, Handler: handler}} {
			started := make(chan struct{})
			one.NotifyStartedFunc = func() { close(started) }
			go func() { _ = one.ActivateAndServe() }()
			<-started
			t.Cleanup(func() { _ = one.Shutdown() })
		}
		return s
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil
}

// run asks the server for a while, and says what came of it.
func run(s *server, meanwhile func(p *probe)) result {
	p := newProbe("test", s.port)
	p.patience = shortPatience
	p.retarget(parse("127.0.0.1/one.example"))
	time.Sleep(300 * time.Millisecond)
	meanwhile(p)
	time.Sleep(300 * time.Millisecond)
	return p.end()
}

func TestEveryAnswerIsRight(t *testing.T) {
	s := startServer(t)
	got := run(s, func(*probe) { s.answers(soa(8)) })
	if got.Queries < 5 || got.Lost != 0 || got.Wrong != 0 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsWrong(t *testing.T) {
	for name, answer := range map[string]func(*dns.Msg) bool{
		"REFUSED":       func(a *dns.Msg) bool { a.Rcode = dns.RcodeRefused; return true },
		"SERVFAIL":      func(a *dns.Msg) bool { a.Rcode = dns.RcodeServerFailure; return true },
		"not AA":        func(a *dns.Msg) bool { soa(7)(a); a.Authoritative = false; return true },
		"an old serial": soa(6),
		"no record":     func(a *dns.Msg) bool { a.Authoritative = true; return true },
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			got := run(s, func(*probe) { s.answers(answer) })
			if got.Wrong == 0 || got.Lost != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAnswersThatAreLost(t *testing.T) {
	silent := func(*dns.Msg) bool { return false }
	for name, test := range map[string]struct {
		meanwhile func(s *server, p *probe)
		lost      bool
	}{
		"while the address is to answer": {func(s *server, _ *probe) { s.answers(silent) }, true},
		"at an address that closes":      {func(s *server, p *probe) { s.answers(silent); time.Sleep(100 * time.Millisecond); p.retarget(nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			got := run(s, func(p *probe) { test.meanwhile(s, p) })
			if (got.Lost > 0) != test.lost || got.Queries == 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAnAddressThatOpensCountsFromItsFirstAnswerOn(t *testing.T) {
	for name, test := range map[string]struct {
		ever bool
	}{"it answers in the end": {true}, "it never does": {false}} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			s.answers(func(*dns.Msg) bool { return false })
			p := newProbe("test", s.port)
			p.patience = shortPatience
			p.retarget(nil)
			p.retarget(parse("127.0.0.1/one.example"))
			time.Sleep(100 * time.Millisecond)
			p.retarget(parse("127.0.0.1/one.example"))
			if test.ever {
				s.answers(soa(7))
			}
			time.Sleep(2 * shortPatience)
			if got := p.end(); (got.Lost == 0) != test.ever || got.Queries == 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTargetsWithoutAZoneAreNotAsked(t *testing.T) {
	if got := parse("192.0.2.1/one.example 192.0.2.2/ /x"); len(got) != 1 || got[0] != (target{"192.0.2.1", "one.example."}) {
		t.Errorf("%+v", got)
	}
}
