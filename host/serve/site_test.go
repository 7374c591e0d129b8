package serve

import (
	"net"
	"strings"
	"testing"
)

// open returns a server that listens, with tokens of its own.
func open(t *testing.T, s Site) (*Open, error) {
	t.Helper()
	s.Tokens = t.TempDir()
	o, err := s.Open()
	if err == nil {
		t.Cleanup(func() { _ = o.Close() })
	}
	return o, err
}

// TestPortInUse: a port that the user named is not replaced by another; the default is, and the user is told.
func TestPortInUse(t *testing.T) {
	first, err := open(t, Site{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	at := first.Addr().String()
	if _, err := open(t, Site{Listen: at}); err == nil || !strings.Contains(err.Error(), at+" is in use by another") {
		t.Errorf("a port in use: %v", err)
	}
	if l, err := net.Listen("tcp", DefaultAddress); err == nil {
		defer l.Close()
	} // otherwise another program has it, which is as good
	o, err := open(t, Site{})
	if err != nil || !strings.HasPrefix(o.Note, DefaultAddress+" is in use") {
		t.Errorf("the default in use: %+v, %v", o, err)
	}
}

// TestEverywhere: the URL of a server that listens at all addresses is one that others can open.
func TestEverywhere(t *testing.T) {
	o, err := open(t, Site{Listen: "0.0.0.0:0", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range append(o.Others, o.URL, o.ReadURL) {
		if strings.Contains(url, "//[::]") || strings.Contains(url, "//0.0.0.0") {
			t.Errorf("the URL is %s", url)
		}
	}
}
