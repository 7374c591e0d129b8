package command

import (
	"errors"
	"net"
	"sync"
)

// ports are the ports in use by gangs of this process. A port is free when it is taken, and no
// other gang here gets it until it is returned; another program may take it before rank 0 listens,
// and then rank 0 fails. The zero value is ready to use.
type ports struct {
	mu    sync.Mutex
	taken map[int]bool
}

// portTries is the number of attempts to find a port that no other gang has.
const portTries = 1000

func (p *ports) take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range portTries {
		port, err := freePort()
		if err != nil {
			return 0, err
		}
		if !p.taken[port] {
			if p.taken == nil {
				p.taken = map[int]bool{}
			}
			p.taken[port] = true
			return port, nil
		}
	}
	return 0, errors.New("all free ports are taken by other trials")
}

// freePort asks the system for a port that is free on every address.
func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// giveBack returns a port; 0 is ignored.
func (p *ports) giveBack(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, port)
}
