package command

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// start runs the program. Pdeathsig is sent when the thread that started a child ends, so a
// permanent thread starts all of them.
func start(path string, args []string, attr *syscall.ProcAttr) (*process, error) {
	var p *process
	var err error
	done := make(chan struct{})
	starter() <- func() {
		p, err = startHere(path, args, attr)
		close(done)
	}
	<-done
	return p, err
}

var starter = sync.OnceValue(func() chan<- func() {
	adoptOrphans()
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

func startHere(path string, args []string, attr *syscall.ProcAttr) (*process, error) {
	pidfd := -1
	attr.Sys = sysProcAttr()
	attr.Sys.Pdeathsig = syscall.SIGKILL
	attr.Sys.PidFD = &pidfd
	children.mu.Lock() // an unknown child would look like an orphan
	defer children.mu.Unlock()
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return nil, err
	}
	children.known[pid] = true
	p := &process{pid: pid, exited: make(chan struct{})}
	go p.wait(pidfd)
	return p, nil
}

// wait reaps the program when it has ended. It waits in the runtime's poller, so a running trial
// needs no thread.
func (p *process) wait(pidfd int) {
	p.awaitExit(pidfd)
	children.forget(p.pid, p.reap)
}

// reap kills the rest of the group, then reads the exit status. The numbers of the leader and the
// group cannot be reused before.
func (p *process) reap() {
	p.signal(syscall.SIGKILL)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		_, err := syscall.Wait4(p.pid, &p.status, 0, nil)
		if err != syscall.EINTR {
			break
		}
	}
	p.gone = true
	close(p.exited)
}

func (p *process) awaitExit(pidfd int) {
	if pidfd < 0 { // a kernel before 5.4
		p.hasExited(0)
		return
	}
	_ = syscall.SetNonblock(pidfd, true)
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err == nil {
		err = conn.Read(func(uintptr) bool { return p.hasExited(syscall.WNOHANG) })
	}
	if err != nil {
		p.hasExited(0)
	}
}

const (
	waitPID    = 1          // P_PID
	waitExited = 4          // WEXITED
	waitPeek   = 0x01000000 // WNOWAIT
)

// hasExited checks without reaping; without WNOHANG it waits.
func (p *process) hasExited(flags uintptr) bool {
	var info [128]byte // siginfo_t
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, waitPID, uintptr(p.pid),
			uintptr(unsafe.Pointer(&info)), waitExited|waitPeek|flags, 0, 0)
		if e == syscall.EINTR {
			continue
		}
		// The first field is the signal's number: 0 if nothing happened.
		return e != 0 || *(*int32)(unsafe.Pointer(&info)) != 0
	}
}

// fionread asks a pipe for the number of bytes in it.
const fionread = 0x541b

// handles reports whether a process has a handler for a signal.
func handles(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(status, []byte("\nSigCgt:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}
