package serve

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestNoCertificate: what is no file, or has no end, is refused at once, as certificate and as key.
func TestNoCertificate(t *testing.T) {
	dir := t.TempDir()
	pipe, large, text := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "text")
	err := syscall.Mkfifo(pipe, 0o600)
	if err == nil {
		err = os.WriteFile(text, []byte("text"), 0o600)
	}
	if err == nil {
		err = os.WriteFile(large, nil, 0o600)
	}
	if err == nil {
		err = os.Truncate(large, 1<<40)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/dev/zero": "but a device", pipe: "but a pipe",
		dir: "but a directory", large: "more than 1048576 bytes", filepath.Join(dir, "none"): "no such file",
		text: "--tls-key"} {
		_, err := open(t, Site{Listen: "127.0.0.1:0", Cert: path, Key: text})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--tls-cert") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("the certificate %s: %v, want %s", path, err, want)
		}
		_, err = open(t, Site{Listen: "127.0.0.1:0", Cert: text, Key: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--tls-key") {
			t.Errorf("the key %s: %v, want %s", path, err, want)
		}
	}
}

// TestHosts: a name that no host can have is refused when the server starts, and one that can is printed in the URL.
func TestHosts(t *testing.T) {
	for _, name := range []string{"evil/.com", "", " ", "lab:8000", "a b", "http://lab", "lab/", "a..b", ".lab",
		"[::1]", "lab?x", "lab#x", "u@lab", "l\u00e4b", "a\nb", strings.Repeat("a", 64), strings.Repeat("a.", 127)} {
		if o, err := open(t, Site{Listen: "127.0.0.1:0", Hosts: []string{"lab", name}}); err == nil ||
			!strings.Contains(err.Error(), "this is no name of a host") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v", name, o, err)
		}
	}
	for _, name := range []string{"lab", "lab.example.org", "LAB-2.", "my_host", "xn--lb-wia", "10.0.0.1", "::1"} {
		if _, err := open(t, Site{Listen: "127.0.0.1:0", Hosts: []string{name}}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
