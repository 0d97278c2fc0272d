//go:build linux

package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

const (
	// readyTimeout is for one service on a busy machine; an idle one needs a tenth of it.
	readyTimeout = 2 * time.Minute
	// stopPatience is for what a service does when it is told to end. Then it is killed.
	stopPatience = 5 * time.Second
)

// service is one of the programs that make up the stack.
type service struct {
	name string
	// args are the program, as a path in the root, and its arguments.
	args []string
	// env is added to what all programs have.
	env []string
	// ready says whether the service does its work. log is what it has written since it was started.
	ready func(ctx context.Context, log logFile) error
}

// supervisor starts and stops services in the root.
type supervisor struct {
	root, logDir string
	// died receives an error when a service ends that nobody stopped.
	died chan error

	mutex sync.Mutex
	known map[string]service
	alive map[string]*process
}

type process struct {
	command *exec.Cmd
	log     logFile
	stopped bool
	exited  chan struct{}
}

func newSupervisor(root, logDir string) *supervisor {
	return &supervisor{
		root: root, logDir: logDir, died: make(chan error, 1),
		known: map[string]service{}, alive: map[string]*process{},
	}
}

// start starts a service and waits until it is ready.
func (s *supervisor) start(ctx context.Context, what service) error {
	p, err := s.launch(what)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err = running.Await(ctx, func() error {
		select {
		case <-p.exited:
			cancel()
			return fmt.Errorf("it ended: %s", p.command.ProcessState)
		default:
			return what.ready(ctx, p.log)
		}
	})
	if err != nil {
		return fmt.Errorf("waiting until %s is ready: %w (see %s)", what.name, err, p.log.path)
	}
	return nil
}

func (s *supervisor) launch(what service) (*process, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.alive[what.name] != nil {
		return nil, fmt.Errorf("%s is running", what.name)
	}
	log, err := os.OpenFile(filepath.Join(s.logDir, what.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	written, err := log.Stat()
	if err != nil {
		return nil, err
	}
	command := exec.Command(what.args[0], what.args[1:]...)
	command.Stdout, command.Stderr = log, log
	// A group of its own keeps Ctrl-C in a terminal away, and takes signals with all children.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	running.InRoot(command, s.root)
	command.Env = append(command.Env, what.env...)
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", what.name, err)
	}
	p := &process{command: command, log: logFile{path: log.Name(), offset: written.Size()}, exited: make(chan struct{})}
	s.known[what.name], s.alive[what.name] = what, p
	go s.watch(what.name, p)
	return p, nil
}

func (s *supervisor) watch(name string, p *process) {
	// How it ended is in ProcessState.
	_ = p.command.Wait()
	s.mutex.Lock()
	delete(s.alive, name)
	stopped := p.stopped
	s.mutex.Unlock()
	close(p.exited)
	if stopped {
		return
	}
	select {
	case s.died <- fmt.Errorf("%s ended by itself: %s", name, p.command.ProcessState):
	default:
		// One death is enough to end everything.
	}
}

// restart starts a service that was stopped.
func (s *supervisor) restart(ctx context.Context, name string) error {
	s.mutex.Lock()
	what, known := s.known[name]
	s.mutex.Unlock()
	if !known {
		return s.unknown(name)
	}
	return s.start(ctx, what)
}

// stop tells a service to end, also a frozen one, and kills it with all its children when it does not.
func (s *supervisor) stop(_ context.Context, name string) error {
	p, err := s.find(name)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	p.stopped = true
	s.mutex.Unlock()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		if err := p.signal(signal); err != nil {
			return err
		}
	}
	select {
	case <-p.exited:
	case <-time.After(stopPatience):
	}
	// Children may outlive their parent.
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited
	return nil
}

// freeze halts a service, thaw lets it go on.
func (s *supervisor) freeze(_ context.Context, name string) error {
	return s.signal(name, syscall.SIGSTOP)
}

func (s *supervisor) thaw(_ context.Context, name string) error {
	return s.signal(name, syscall.SIGCONT)
}

func (s *supervisor) signal(name string, signal syscall.Signal) error {
	p, err := s.find(name)
	if err != nil {
		return err
	}
	return p.signal(signal)
}

// signal reaches all processes of the service. It is no error when there are none left.
func (p *process) signal(signal syscall.Signal) error {
	err := syscall.Kill(-p.command.Process.Pid, signal)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

func (s *supervisor) find(name string) (*process, error) {
	s.mutex.Lock()
	p := s.alive[name]
	_, known := s.known[name]
	s.mutex.Unlock()
	switch {
	case !known:
		return nil, s.unknown(name)
	case p == nil:
		return nil, fmt.Errorf("%s is not running", name)
	default:
		return p, nil
	}
}

func (s *supervisor) unknown(name string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	names := make([]string, 0, len(s.known))
	for known := range s.known {
		names = append(names, known)
	}
	slices.Sort(names)
	return fmt.Errorf("there is no %q here, but %q", name, names)
}
