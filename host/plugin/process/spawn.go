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
			off()
			s.done <- err
		}
	}()
	return starts
})

type start struct {
	cmd  *exec.Cmd
	wear func() (off func())
	done chan<- error
}

func spawn(cmd *exec.Cmd, wear func() (off func())) error {
	if wear == nil {
		wear = func() func() { return func() {} }
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
