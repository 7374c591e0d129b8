package process

import (
	"os/exec"
	"runtime"
	"sync"
)

// starter starts every process on one thread that lives as long as the
// program. Linux ends a child whose death signal is set when the *thread* that
// made it ends, and Go ends threads as it likes.
var starter = sync.OnceValue(func() chan<- start {
	starts := make(chan start)
	go func() {
		runtime.LockOSThread()
		for s := range starts {
			off := s.wear()
			err := s.cmd.Start()
			off(pidOf(s.cmd))
			s.done <- err
		}
	}()
	return starts
})

type start struct {
	cmd  *exec.Cmd
	wear func() (off func(pid int))
	done chan<- error
}

// pidOf is 0 where nothing has been started.
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

// living are the processes that were started and have not ended.
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
