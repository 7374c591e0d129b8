package link

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// DialAddresses returns the addresses at which agents may reach this host: the user's own, those of the
// machine's interfaces, its name, and finally the loopback address for agents on the same machine. An
// agent accepts an answer only from a peer that proves to be the host.
func DialAddresses(given string, port int) (list []string) {
	add := func(host string) {
		if a := net.JoinHostPort(host, strconv.Itoa(port)); !slices.Contains(list, a) && len(list) < maxAddresses {
			list = append(list, a)
		}
	}
	if _, _, err := net.SplitHostPort(given); err == nil {
		list = append(list, given)
	} else if given != "" {
		add(given)
	}
	for _, ip := range ownAddresses() {
		add(ip.String())
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		add(name)
	}
	add("127.0.0.1")
	return list
}

// ownAddresses returns the addresses of the machine's interfaces that other machines may reach,
// IPv4 first.
func ownAddresses() (v4 []netip.Addr) {
	var v6 []netip.Addr
	addrs, _ := net.InterfaceAddrs() // without them there is the name
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		ip := prefix.Addr().Unmap()
		switch {
		case err != nil || !ip.IsGlobalUnicast():
		case ip.Is4():
			v4 = append(v4, ip)
		default:
			v6 = append(v6, ip)
		}
	}
	return append(v4, v6...)
}
