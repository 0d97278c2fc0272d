// Program probe asks DNS servers again and again whether they answer, as their clients would, and says how many answers were lost or wrong.
// It runs in the resolver's pod (bin/probe).
//
// It asks for the SOA record of a zone at each address, 50 times a second, over UDP and TCP in turn, one question a connection. Standard
// input says what to ask: each line is the whole list, as ADDRESS/ZONE with spaces in between. An answer that is missing counts once the
// next line has its address, too: a Service that closes meanwhile is not to answer. Nor is one that opens before the nodes know of that:
// of what was not in the first line, answers count from the first one on, unless there is none. It ends with its input, and prints a
// result in JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	// interval is the time between two questions to one address.
	interval = time.Second / 50
	// patience is how long a client waits (resolv.conf(5)). An answer that takes longer than slow is counted as such.
	patience = 5 * time.Second
	slow     = 500 * time.Millisecond
	// shown is how many problems are told of.
	shown = 20
)

// result is what people read.
type result struct {
	Scenario string `json:"scenario"`
	Queries  int    `json:"queries"`
	Lost     int    `json:"lost"`
	Wrong    int    `json:"wrong"`
	Slow     int    `json:"slow"`
}

// target is a zone at an address.
type target struct{ address, zone string }

// lost is an answer that was missing.
type lost struct {
	target
	began   time.Time
	problem string
}

// probe asks all targets and counts.
type probe struct {
	port     string
	patience time.Duration
	group    sync.WaitGroup

	mutex   sync.Mutex
	result  result
	stops   map[target]chan struct{}
	serials map[target]uint32
	// pending are losses that do not count yet.
	pending []lost
	// opening are the targets that have not answered since they were added, with their losses, and opened is when others first did.
	opening  map[target][]lost
	opened   map[target]time.Time
	begun    bool
	problems int
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: probe SCENARIO < TARGETS")
		os.Exit(2)
	}
	p := newProbe(os.Args[1], "53")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		p.retarget(parse(lines.Text()))
	}
	outcome := p.end()
	if err := json.NewEncoder(os.Stdout).Encode(outcome); err != nil || lines.Err() != nil {
		fmt.Fprintln(os.Stderr, err, lines.Err())
		os.Exit(2)
	}
}

func newProbe(scenario, port string) *probe {
	return &probe{port: port, patience: patience, result: result{Scenario: scenario}, stops: map[target]chan struct{}{}, serials: map[target]uint32{},
		opening: map[target][]lost{}, opened: map[target]time.Time{}}
}

// parse reads a list of targets. One without a zone is not asked.
func parse(line string) []target {
	var targets []target
	for word := range strings.FieldsSeq(line) {
		if address, zone, found := strings.Cut(word, "/"); found && address != "" && zone != "" {
			targets = append(targets, target{address, dns.Fqdn(zone)})
		}
	}
	return targets
}

// retarget has these asked, and no others, and decides which of the pending losses count.
func (p *probe) retarget(targets []target) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	wanted := map[target]bool{}
	for _, t := range targets {
		wanted[t] = true
		if p.stops[t] == nil {
			stop := make(chan struct{})
			p.stops[t] = stop
			if p.begun {
				p.opening[t] = nil
			}
			p.group.Go(func() { p.ask(t, stop) })
		}
	}
	for t, stop := range p.stops {
		if !wanted[t] {
			close(stop)
			delete(p.stops, t)
			delete(p.opening, t)
		}
	}
	p.begun = true
	p.judge()
}

// judge counts the pending losses of targets that are still asked. The caller holds the mutex.
func (p *probe) judge() {
	for _, l := range p.pending {
		if p.stops[l.target] == nil || l.began.Before(p.opened[l.target]) {
			continue
		}
		if early, opening := p.opening[l.target]; opening {
			p.opening[l.target] = append(early, l)
			continue
		}
		p.lose(l)
	}
	p.pending = nil
}

// lose counts an answer that is missing. The caller holds the mutex.
func (p *probe) lose(l lost) {
	p.result.Lost++
	p.tell(l.target, l.problem)
}

// end asks nothing any more, waits for the last answers and counts.
func (p *probe) end() result {
	p.mutex.Lock()
	for _, stop := range p.stops {
		close(stop)
	}
	p.mutex.Unlock()
	p.group.Wait()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.judge()
	for _, early := range p.opening {
		for _, l := range early {
			p.lose(l)
		}
	}
	return p.result
}

// ask asks one target until it is stopped.
func (p *probe) ask(t target, stop <-chan struct{}) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var questions sync.WaitGroup
	defer questions.Wait()
	for number := 0; ; number++ {
		select {
		case <-stop:
			return
		case <-ticker.C:
			transport := [...]string{"udp", "tcp"}[number%2]
			questions.Go(func() { p.count(t, transport) })
		}
	}
}

// count asks once and counts what comes of it.
func (p *probe) count(t target, transport string) {
	question := new(dns.Msg).SetQuestion(t.zone, dns.TypeSOA)
	question.RecursionDesired = false
	client := dns.Client{Net: transport, Timeout: p.patience}
	began := time.Now()
	answer, _, err := client.Exchange(question, net.JoinHostPort(t.address, p.port))
	took := time.Since(began)

	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.result.Queries++
	if err != nil {
		p.pending = append(p.pending, lost{t, began, fmt.Sprintf("%s at %s: %v", transport, began.UTC().Format("15:04:05.000"), err)})
		return
	}
	if _, opening := p.opening[t]; opening {
		delete(p.opening, t)
		p.opened[t] = time.Now()
	}
	if took > slow {
		p.result.Slow++
	}
	if problem := p.fault(t, answer); problem != "" {
		p.result.Wrong++
		p.tell(t, fmt.Sprintf("%s at %s: %s", transport, began.UTC().Format("15:04:05.000"), problem))
	}
}

// fault is what is wrong with an answer. A serial must not be older than one that the same server has told before. The caller holds the
// mutex.
func (p *probe) fault(t target, answer *dns.Msg) string {
	if answer.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[answer.Rcode]
	}
	if !answer.Authoritative {
		return "not authoritative"
	}
	for _, record := range answer.Answer {
		soa, ok := record.(*dns.SOA)
		if !ok {
			continue
		}
		// Answers may overtake each other, but not by more than one change of the zone: RFC 1982.
		if before := p.serials[t]; before != 0 && int32(soa.Serial-before) < 0 {
			return fmt.Sprintf("serial %d after %d", soa.Serial, before)
		}
		p.serials[t] = soa.Serial
		return ""
	}
	return "no SOA record"
}

// tell says what went wrong, unless much has been told already. The caller holds the mutex.
func (p *probe) tell(t target, problem string) {
	p.problems++
	if p.problems <= shown {
		fmt.Fprintf(os.Stderr, "%s %s %s\n", t.address, t.zone, problem)
	}
}
