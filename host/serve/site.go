package serve

import (
	"cmp"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/usererror"
)

// DefaultAddress is where a server listens unless the user says otherwise. If the port is taken, it uses another
// one.
const DefaultAddress = "127.0.0.1:7733"

// Site says where a server listens, and who may use it.
type Site struct {
	// Listen is an address; "" is DefaultAddress.
	Listen string
	// Flag is the flag that names Listen, for messages; "": --listen.
	Flag string
	// Hosts are names of the server, beside localhost and addresses.
	Hosts []string
	// Cert and Key are files for HTTPS; "": HTTP.
	Cert, Key string
	// Insecure allows HTTP beyond this machine.
	Insecure bool
	// Fresh replaces the tokens.
	Fresh bool
	// Tokens is the folder with the tokens; "": the user's.
	Tokens string
}

// Open is a server that listens.
type Open struct {
	net.Listener
	Guard guard.Options
	// URL and ReadURL have a token that ends with the server: the first for everything, the second for reading.
	URL, ReadURL string
	// SSH is the command that makes the server reachable from another machine, with the URL to open there if that is
	// another; "" if it is already.
	SSH string
	// Others are URLs at the names of the server, and at the other addresses of this machine, if the server listens at
	// all of them.
	Others []string
	// Keys is a folder for the keys of requests.
	Keys string
	// Note is what the user should know of the address; "": nothing.
	Note string
	// Warnings say why clients refuse the certificate.
	Warnings []string
}

// Open listens, and makes the tokens if there are none.
func (s Site) Open() (*Open, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	dir, err := s.folder()
	if err != nil {
		return nil, err
	}
	tokens, err := guard.Load(dir, s.Fresh)
	if err != nil {
		return nil, err
	}
	pair, err := s.certificate()
	if err != nil {
		return nil, err
	}
	all, note, err := s.listen()
	if err != nil {
		return nil, err
	}
	o := &Open{Listener: together(all), Note: note, Keys: dir}
	if pair != nil {
		o.Listener = secure(o.Listener, pair)
		o.Warnings = s.refusals(pair.Leaf, s.promised(all[0]), time.Now())
	}
	o.Guard = guard.Options{Tokens: tokens, Printed: guard.NewTokens(), Folder: dir, Hosts: s.Hosts}
	s.print(o, all)
	if o.Listener, err = guard.Announce(o.Listener, dir, s.base(s.announced(all[0]))); err != nil {
		closeAll(all)
		return nil, err
	}
	return o, nil
}

// print makes the texts that say how to reach the server. Their tokens end with the server: a browser's history keeps
// them.
func (s Site) print(o *Open, all []net.Listener) {
	places, tokens := s.places(all[0]), o.Guard.Printed
	o.URL, o.ReadURL = s.url(places[0], tokens.Full), s.url(places[0], tokens.Read)
	for _, place := range places[1:] {
		o.Others = append(o.Others, s.url(place, tokens.Full))
	}
	plain := all[0] // what ssh leads to
	if s.Listen == "" {
		plain = all[slices.IndexFunc(all, isDefault)]
	}
	if !guard.Loopback(plain.Addr().String()) {
		return
	}
	name, _ := os.Hostname()
	o.SSH = "ssh -L " + portOf(plain) + ":" + plain.Addr().String() + " " + cmp.Or(name, "HOST")
	if plain != all[0] {
		o.SSH += ", then " + s.url(plain.Addr().String(), tokens.Full)
	}
}

func (s Site) check() error {
	at := cmp.Or(s.Listen, DefaultAddress)
	_, port, err := net.SplitHostPort(at)
	flag := s.flag()
	switch {
	case err != nil:
		return usererror.Errorf("%s %.100q: expected ADDRESS:PORT, such as %s", flag, at, DefaultAddress)
	case !isPort(port):
		return usererror.Errorf("%s %.100q: expected a port from 0 (any) to 65535, such as %s", flag, at,
			DefaultAddress)
	case (s.Cert == "") != (s.Key == ""):
		return usererror.Errorf("--tls-cert and --tls-key go together")
	case !guard.Loopback(at) && s.Cert == "" && !s.Insecure:
		return usererror.Errorf("%s %s: other machines could read the token on its way: give --tls-cert and "+
			"--tls-key, or listen on %s and use ssh -L, or give --insecure", flag, at, DefaultAddress)
	}
	for _, name := range s.Hosts {
		if err := checkHost(name); err != nil {
			return err
		}
	}
	return nil
}

// flag is the flag that names the address.
func (s Site) flag() string { return cmp.Or(s.Flag, "--listen") }

// isPort reports whether a text is a port's number or, such as http, its name.
func isPort(text string) bool {
	_, err := net.LookupPort("tcp", text)
	return err == nil
}

// folder is that of the tokens.
func (s Site) folder() (string, error) {
	if s.Tokens != "" {
		return s.Tokens, nil
	}
	return guard.Folder()
}

// maxPEM is longer than any certificate with those that vouch for it, in bytes.
const maxPEM = 1 << 20

// readFile reads a file of a flag, which may be a link. Nothing that might not end is read.
func readFile(flag, path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, usererror.Errorf("%s: %w", flag, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, usererror.Errorf("%s: %w", flag, err)
	case !info.Mode().IsRegular():
		return nil, usererror.Errorf("%s %s: this is no file with a certificate or a key, but %s", flag, path,
			kindOf(info.Mode()))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, usererror.Errorf("%s: %w", flag, err)
	case len(text) > maxPEM:
		return nil, usererror.Errorf("%s %s: it has more than %d bytes: this is neither a certificate nor a key", flag,
			path, maxPEM)
	}
	return text, nil
}

// kindOf says what is at a path in place of a file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// checkHost refuses what cannot be the name of a host in a URL.
func checkHost(name string) error {
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	strange := func(r rune) bool {
		return !strings.ContainsRune("-_", r) && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z') &&
			!('0' <= r && r <= '9')
	}
	wrong := func(label string) bool {
		return label == "" || len(label) > 63 || strings.ContainsFunc(label, strange)
	}
	if len(name) > 253 || slices.ContainsFunc(labels, wrong) {
		return usererror.Errorf("--host %.100q: this is no name of a host: expected one such as lab.example.org, or "+
			"an address, without a port (names in other scripts as xn--…)", name)
	}
	return nil
}

func (s Site) url(place, token string) string {
	return s.base(place) + "/?token=" + url.QueryEscape(token)
}

// base is the URL of the server at a place, without a path.
func (s Site) base(place string) string {
	u := url.URL{Scheme: "http", Host: place}
	if s.Cert != "" {
		u.Scheme = "https"
	}
	return u.String()
}

// places are the hosts and ports at which the server is reached, the best for a browser first. A name may be that of a
// proxy on another machine, if the server listens on this machine alone.
func (s Site) places(l net.Listener) []string {
	var names []string
	for _, name := range s.Hosts {
		names = append(names, net.JoinHostPort(name, portOf(l)))
	}
	if guard.Loopback(l.Addr().String()) && s.Cert == "" {
		return append(listening(l), names...)
	}
	return append(names, listening(l)...)
}

// promised are the hosts at which clients expect the certificate: those that the user names, or that of the printed
// URL.
func (s Site) promised(l net.Listener) []string {
	if len(s.Hosts) > 0 {
		return s.Hosts
	}
	host, _, _ := net.SplitHostPort(listening(l)[0])
	return []string{host}
}

// announced is the place to which programs of this machine send their token. It is not a name of the server,
// because another machine may have that name and would get the token as clear text. With TLS it is the name,
// because the certificate is for the name.
func (s Site) announced(l net.Listener) string {
	if s.Cert != "" {
		return s.places(l)[0]
	}
	return listening(l)[0]
}

// listening are the addresses and ports at which a server listens: one, unless it listens at all addresses.
func listening(l net.Listener) (list []string) {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || !at.Addr().IsUnspecified() {
		return []string{l.Addr().String()}
	}
	for _, address := range addresses() {
		list = append(list, net.JoinHostPort(address, portOf(l)))
	}
	return list
}

// addresses are those of this machine for others, those of IPv4 first; without a network its own.
func addresses() (list []string) {
	var six []string
	all, _ := net.InterfaceAddrs() // it also has a name for itself
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok || !n.IP.IsGlobalUnicast():
		case n.IP.To4() != nil:
			list = append(list, n.IP.String())
		default:
			six = append(six, n.IP.String())
		}
	}
	if list = append(list, six...); len(list) == 0 {
		return []string{"127.0.0.1"}
	}
	return list
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
