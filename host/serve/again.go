package serve

import (
	"errors"
	"net"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tunehost/tunehost/host/serve/guard"
)

// Return has the server also listen where earlier servers of folders of experiments did: pages that are still open
// there find it. It notes the addresses for the next server. The printed URL stays at the address that nobody had
// before. It returns what the user should know. Where the user has named the address it does nothing.
func (o *Open) Return(folders ...string) (notes []string) {
	if o.every == nil {
		return nil
	}
	dirs := make([]string, 0, len(folders))
	for _, folder := range folders {
		if whole, err := filepath.Abs(folder); err == nil {
			dirs = append(dirs, plainPath(whole))
		}
	}
	earlier, err := guard.Addresses(o.Keys, dirs)
	if err != nil {
		notes = append(notes, err.Error())
	}
	at := o.every.addresses()
	for _, address := range earlier {
		if slices.Contains(at, address) {
			continue
		}
		l, err := net.Listen("tcp", address)
		switch {
		case err == nil:
			o.every.add(l)
			at = append(at, address)
		case errors.Is(err, syscall.EADDRINUSE) && address != DefaultAddress: // of that one, Note has told
			notes = append(notes, address+", where an earlier server was, is in use by another one: pages that are "+
				"open there do not find this server")
		}
	}
	if err := guard.Remember(o.Keys, dirs, at); err != nil {
		notes = append(notes, "open pages will not find the next server: "+err.Error())
	}
	return notes
}

// addresses are those of IPv4, in the order in which they were added.
func (s *several) addresses() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.all {
		if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.To4() != nil {
			list = append(list, l.Addr().String())
		}
	}
	return list
}
