package primaries

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// listen takes one port of this machine for UDP and TCP.
func listen(t *testing.T) (packets net.PacketConn, streams net.Listener) {
	t.Helper()
	for range 20 {
		streams, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err = net.ListenPacket("udp", streams.Addr().String())
		if err != nil {
			streams.Close()
			continue // Somebody else has it for UDP.
		}
		t.Cleanup(func() { packets.Close(); streams.Close() })
		return packets, streams
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

// refuse answers as mdns does of a zone that it does not know.
func refuse(t *testing.T, server *dns.Server) {
	t.Helper()
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	server.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(question, dns.RcodeRefused))
	})
	go func() { _ = server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
}

func TestAsk(t *testing.T) {
	tests := map[string]struct {
		serve func(t *testing.T, packets net.PacketConn, streams net.Listener)
		want  []string
	}{
		"a refusal over both is an answer": {
			serve: func(t *testing.T, packets net.PacketConn, streams net.Listener) {
				refuse(t, &dns.Server{PacketConn: packets})
				refuse(t, &dns.Server{Listener: streams})
			},
		},
		"over UDP alone": {
			serve: func(t *testing.T, packets net.PacketConn, streams net.Listener) {
				refuse(t, &dns.Server{PacketConn: packets})
				streams.Close()
			},
			want: []string{"TCP: connect: connection refused"},
		},
		"over TCP alone": {
			serve: func(t *testing.T, packets net.PacketConn, streams net.Listener) {
				refuse(t, &dns.Server{Listener: streams})
				packets.Close()
			},
			want: []string{"UDP: read: connection refused"},
		},
		"over neither: packets are dropped, and a connection is closed": {
			serve: func(_ *testing.T, _ net.PacketConn, streams net.Listener) {
				go func() {
					for connection, err := streams.Accept(); err == nil; connection, err = streams.Accept() {
						connection.Close()
					}
				}()
			},
			want: []string{"UDP: i/o timeout", "TCP: "},
		},
		"what is no DNS is no answer": {
			serve: func(t *testing.T, packets net.PacketConn, streams net.Listener) {
				refuse(t, &dns.Server{PacketConn: packets})
				go func() {
					for connection, err := streams.Accept(); err == nil; connection, err = streams.Accept() {
						_, _ = connection.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n" + strings.Repeat("x", 1<<16)))
						connection.Close()
					}
				}()
			},
			want: []string{"TCP: "},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			packets, streams := listen(t)
			test.serve(t, packets, streams)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := Ask(ctx, streams.Addr().String())
			if (err == nil) != (len(test.want) == 0) {
				t.Fatalf("the answer is %v, want %q", err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the answer is %v, want %q in it", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%v has addresses in it, which are others each time", err)
			}
		})
	}
}
