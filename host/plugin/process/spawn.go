package process

import (
	"os/exec"
	"runtime"
	"sync"
)

// starter starts every process on one thread that lives as long as the program. On Linux a death
// signal is sent when the parent *thread* ends, and Go may end any other thread.
var starter = sync.OnceValue(func() chan<- start {
	starts := make(chan start)
	go func() {
		runtime.LockOSThread()
		for s := range starts {
			off := s.tag()
			err := s.cmd.Start()
			off(pidOf(s.cmd))
			s.done <- err
		}
	}()
	return starts
})

type start struct {
	cmd  *exec.Cmd
	tag  func() (off func(pid int))
	done chan<- error
}

// pidOf returns 0 if nothing was started.
func pidOf(cmd *exec.Cmd) int {
	if cmd.Process == nil {
		return 0
	}
	return cmd.Process.Pid
}

func spawn(cmd *exec.Cmd, wear func() (off func(pid int))) error {
	if wear == nil {
		wear = func() func(int) { return func(int) {} }
	}
	done := make(chan error)
	starter() <- start{cmd, wear, done}
	return <-done
}

// living are the processes that have started and not ended.
var living = register{runners: map[*runner]bool{}}

type register struct {
	mu      sync.Mutex
	runners map[*runner]bool
}

func (g *register) add(r *runner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runners[r] = true
}

func (g *register) remove(r *runner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.runners, r)
}

func (g *register) killAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r := range g.runners {
		r.kill(abort)
	}
}
