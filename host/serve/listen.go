package serve

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/usererror"
)

// A browser keeps what a program has left at an origin, such as a service worker, which sees the URL with the token
// before the server does. The default server therefore has an address of its own, which no program had before, beside
// the one that programs and ssh use. It also has both addresses of localhost, so that nobody else has one of them.

// listen returns the listeners, the one of the printed URL first, and what to say of the address. Only the default port
// may become another.
func (s Site) listen() (all []net.Listener, note string, err error) {
	all, twin, err := both(cmp.Or(s.Listen, DefaultAddress))
	switch used := errors.Is(err, syscall.EADDRINUSE); {
	case used && s.Listen != "":
		return nil, "", usererror.Errorf("%s %s is in use by another program, perhaps another tunehost: end that, "+
			"or name another port (0: any)", s.flag(), s.Listen)
	case s.Listen == "" && (used || errors.Is(twin, syscall.EADDRINUSE)):
		taken := DefaultAddress
		if !used {
			taken = otherLocalhost(all[0].Addr())
		}
		closeAll(all)
		note = taken + " is in use, perhaps by another tunehost: this server has another port; programs that send " +
			"their token to " + taken + " give it to that one: have them read the address of this one in " +
			"~/.config/tunehost/" + guard.URLName
		all, twin, err = both("127.0.0.1:0")
	}
	if err != nil {
		return nil, "", s.cannotListen(err)
	}
	if errors.Is(twin, syscall.EADDRINUSE) {
		note = "localhost may lead to another program, which listens at the same port: open the URL as it is"
	}
	if s.Listen == "" && s.Cert == "" && len(s.Hosts) == 0 {
		all = append(fresh(portOf(all[0])), all...)
	}
	return all, note, nil
}

// cannotListen says what is wrong with the address that the user named.
func (s Site) cannotListen(err error) error {
	var at *net.OpError
	if s.Listen == "" || !errors.As(err, &at) {
		return usererror.Wrap(err)
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = ": name an address of this machine, or 0.0.0.0 for all"
	case errors.Is(err, fs.ErrPermission):
		advice = ": name a port from 1024 on, or 0 for any"
	}
	return usererror.Errorf("%s %s: %w%s", s.flag(), s.Listen, at.Err, advice)
}

// anyPort is how often a port is looked for that both addresses of localhost have.
const anyPort = 20

// both listens at an address and, if that is one of localhost, at the other one with the same port. If only the second
// cannot be had, twin says why: a machine may have one of them alone.
func both(address string) (all []net.Listener, twin, err error) {
	for range anyPort {
		var l net.Listener
		if l, err = net.Listen("tcp", address); err != nil {
			return nil, nil, err
		}
		all = []net.Listener{l}
		other := otherLocalhost(l.Addr())
		if other == "" {
			return all, nil, nil
		}
		var second net.Listener
		if second, twin = net.Listen("tcp", other); twin == nil {
			return append(all, second), nil, nil
		}
		if _, port, _ := net.SplitHostPort(address); port != "0" || !errors.Is(twin, syscall.EADDRINUSE) {
			break
		}
		closeAll(all)
		all = nil
	}
	if all == nil {
		return nil, nil, twin
	}
	return all, twin, nil
}

// otherLocalhost is the other address of localhost with the same port; "": this is none of them.
func otherLocalhost(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return ""
	}
	switch _, port, _ := net.SplitHostPort(a.String()); at.Addr().Unmap() {
	case netip.AddrFrom4([4]byte{127, 0, 0, 1}):
		return net.JoinHostPort("::1", port)
	case netip.IPv6Loopback():
		return net.JoinHostPort("127.0.0.1", port)
	}
	return ""
}

// fresh listens at an address of this machine alone that nobody could know before; nothing: it has none, or the browser
// is on another machine, which cannot reach it: that of an ssh connection, or Windows around its Linux.
func fresh(port string) []net.Listener {
	if runtime.GOOS != "linux" || os.Getenv("SSH_CONNECTION") != "" || os.Getenv("WSL_DISTRO_NAME") != "" {
		return nil
	}
	address := [4]byte{127}
	_, _ = rand.Read(address[1:]) // it does not fail
	if address[1] == 0 {
		address[1] = 1 // 127.0 has addresses that other programs use
	}
	address[3] = address[3]&^1 | 2 // neither the network's nor the one for everybody
	l, err := net.Listen("tcp", net.JoinHostPort(netip.AddrFrom4(address).String(), port))
	if err != nil {
		return nil // the address that programs use is as good as before
	}
	return []net.Listener{l}
}

// isDefault reports whether a listener has the address that programs use.
func isDefault(l net.Listener) bool {
	host, _, _ := net.SplitHostPort(l.Addr().String())
	return host == "127.0.0.1"
}

func closeAll(all []net.Listener) {
	for _, l := range all {
		_ = l.Close()
	}
}

// several is a listener at several addresses.
type several struct {
	net.Listener // the first one
	all          []net.Listener
	came         chan arrival
	begin, end   sync.Once
	closed       chan struct{}
}

// arrival is what Accept of one listener returns.
type arrival struct {
	conn net.Conn
	err  error
}

// together is one listener for several.
func together(all []net.Listener) net.Listener {
	if len(all) == 1 {
		return all[0]
	}
	return &several{Listener: all[0], all: all, came: make(chan arrival), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (s *several) Accept() (net.Conn, error) {
	s.begin.Do(func() {
		for _, l := range s.all {
			go s.accept(l)
		}
	})
	select {
	case a := <-s.came:
		return a.conn, a.err
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *several) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		select {
		case s.came <- arrival{c, err}:
		case <-s.closed:
			if err == nil {
				_ = c.Close()
			}
			return
		}
	}
}

// Close implements net.Listener.
func (s *several) Close() error {
	s.end.Do(func() {
		close(s.closed)
		closeAll(s.all)
	})
	return nil
}
