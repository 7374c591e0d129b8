package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/internal/testplace"
)

// open returns a server that listens, with tokens of its own.
func open(t *testing.T, s Site) (*Open, error) {
	t.Helper()
	if s.Tokens == "" {
		s.Tokens = t.TempDir()
	}
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

// TestOtherLocalhostInUse: the note names the address that somebody else has, and what becomes of tokens that programs
// send there.
func TestOtherLocalhostInUse(t *testing.T) {
	taken := "[::1]:7733"
	l, err := net.Listen("tcp", taken)
	if err != nil {
		if probe, err := net.Listen("tcp", "[::1]:0"); err != nil {
			taken = DefaultAddress // the machine has this address alone
			l, _ = net.Listen("tcp", taken)
		} else {
			_ = probe.Close()
		}
	} // otherwise another program has it, which is as good
	if l != nil {
		defer l.Close()
	}
	if first, err := net.Listen("tcp", DefaultAddress); err == nil {
		_ = first.Close()
	} else {
		taken = DefaultAddress // another program has both
	}
	o, err := open(t, Site{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{taken + " is in use", "send their token to " + taken + " give it to that one",
		"serve-url"} {
		if !strings.Contains(o.Note, want) {
			t.Errorf("%s: the note is %q, want %q", taken, o.Note, want)
		}
	}
}

// announcedURL is what programs read.
func announcedURL(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, guard.URLName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// TestAnnounced covers B-142: programs find the URL of the server beside the token, while it runs: the one of its own,
// which nobody could have taken before.
func TestAnnounced(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("WSL_DISTRO_NAME", "")
	o, end := begun(t, Site{})
	printed, _ := parsed(t, o.URL)
	at := announcedURL(t, o.Keys)
	if status := answered(t, at, o.Guard.Tokens.Full); at != printed || status != http.StatusOK {
		t.Errorf("%s is announced and answers %d, %s is printed", at, status, printed)
	}
	other, endOther := begun(t, Site{Listen: "127.0.0.1:0", Tokens: o.Keys})
	second, _ := parsed(t, other.URL)
	if at := announcedURL(t, o.Keys); at != second {
		t.Errorf("%s is announced, want that of the newest server, %s", at, second)
	}
	endOther()
	testplace.Soon(t, "the first server has the file again", func() bool {
		text, _ := os.ReadFile(filepath.Join(o.Keys, guard.URLName))
		return string(text) == printed+"\n"
	})
	end()
	if _, err := os.Lstat(filepath.Join(o.Keys, guard.URLName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end of the servers: %v", err)
	}
}

// answered is the status of an answer to a token.
func answered(t *testing.T, at, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/api/v1/experiments", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	return a.StatusCode
}

// begun serves an empty folder. It returns what is printed, and how the server is ended.
func begun(t *testing.T, s Site) (*Open, func()) {
	t.Helper()
	o, err := open(t, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended, server := make(chan error, 1), New(Options{Folders: []string{t.TempDir()}, Guard: o.Guard})
	go func() { ended <- server.Serve(ctx, o) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return o, end
}

// parsed is a printed URL.
func parsed(t *testing.T, text string) (base, token string) {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + u.Host, u.Query().Get("token")
}

// TestAddressNobodyHad covers B-142: the printed URL is at an address that no program had before, so that nothing of
// another is in the browser for it. Programs and ssh use the usual one, and localhost is the server's too.
func TestAddressNobodyHad(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("WSL_DISTRO_NAME", "")
	seen := map[string]bool{}
	for range 2 {
		o, _ := begun(t, Site{})
		base, token := parsed(t, o.URL)
		u, _ := url.Parse(base)
		at, err := netip.ParseAddr(u.Hostname())
		if runtime.GOOS != "linux" { // the others have 127.0.0.1 alone
			if u.Hostname() != "127.0.0.1" {
				t.Errorf("the URL is %s", o.URL)
			}
			continue
		}
		if err != nil || !at.IsLoopback() || u.Hostname() == "127.0.0.1" || seen[u.Hostname()] {
			t.Errorf("the URL is %s, %v", o.URL, err)
		}
		seen[u.Hostname()] = true
		plain, _ := parsed(t, o.SSH[strings.Index(o.SSH, "http://"):])
		if want := "http://127.0.0.1:" + u.Port(); plain != want {
			t.Errorf("%s, want %s", o.SSH, want)
		}
		for _, place := range []string{base, plain, "http://localhost:" + u.Port()} {
			if status := answered(t, place, token); status != http.StatusOK {
				t.Errorf("%s: %d", place, status)
			}
		}
	}
	t.Setenv("SSH_CONNECTION", "192.0.2.1 1000 192.0.2.2 22")
	o, _ := begun(t, Site{})
	if !strings.HasPrefix(o.URL, "http://127.0.0.1:") || strings.Contains(o.SSH, "then") {
		t.Errorf("for a browser on another machine: %s, %s", o.URL, o.SSH)
	}
}

// TestPrintedTokensEnd covers B-142: the tokens in the printed URLs, which a browser's history keeps, end with the
// server. Those in the folder stay.
func TestPrintedTokensEnd(t *testing.T) {
	site := Site{Listen: "127.0.0.1:0"}
	o, end := begun(t, site)
	base, token := parsed(t, o.URL)
	_, reading := parsed(t, o.ReadURL)
	for _, shown := range []string{token, reading, o.Guard.Tokens.Full} {
		if status := answered(t, base, shown); status != http.StatusOK {
			t.Errorf("the server answers %d", status)
		}
	}
	end()
	site.Tokens = o.Keys
	next, _ := begun(t, site)
	base, _ = parsed(t, next.URL)
	want := map[string]int{token: http.StatusUnauthorized, reading: http.StatusUnauthorized, o.Guard.Tokens.Full: 200}
	for shown, want := range want {
		if status := answered(t, base, shown); status != want {
			t.Errorf("the next server answers %d, want %d", status, want)
		}
	}
}

// TestBothAddressesOfLocalhost covers B-142: the server has 127.0.0.1 and ::1, so that nobody else gets what a browser
// sends to localhost; it says so if somebody does.
func TestBothAddressesOfLocalhost(t *testing.T) {
	hosts, listens := []string{"127.0.0.1", "[::1]"}, []string{"127.0.0.1:0", "[::1]:0", "localhost:0"}
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // the machine has one address of localhost
		hosts, listens = hosts[:1], listens[:1]
		if probe, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
			t.Fatal(err)
		}
	}
	defer probe.Close()
	for _, listen := range listens {
		o, _ := begun(t, Site{Listen: listen})
		_, token := parsed(t, o.URL)
		for _, host := range hosts {
			if status := answered(t, "http://"+host+":"+portOf(o), token); status != http.StatusOK {
				t.Errorf("--listen %s: %s answers %d", listen, host, status)
			}
		}
	}
	taken, err := open(t, Site{Listen: "127.0.0.1:" + portOf(probe)})
	if err == nil && len(hosts) == 2 && !strings.Contains(taken.Note, "localhost may lead to another program") {
		t.Errorf("the other address is somebody else's: %+v", taken)
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

// A name may be that of a proxy on another machine, which would get the token of a program as clear text: the program
// finds the address at which the server listens, and the user is told both.
func TestNamesAreNotAnnounced(t *testing.T) {
	o, err := open(t, Site{Listen: "127.0.0.1:0", Hosts: []string{"lab.example", "lab"}})
	if err != nil {
		t.Fatal(err)
	}
	at := o.Addr().String()
	if got := announcedURL(t, o.Keys); got != "http://"+at {
		t.Errorf("%s is announced, want http://%s", got, at)
	}
	base, _ := parsed(t, o.URL)
	_, port, _ := net.SplitHostPort(at)
	want := []string{"http://" + at, "http://lab.example:" + port, "http://lab:" + port}
	if got := append([]string{base}, basesOf(t, o.Others)...); !slices.Equal(got, want) {
		t.Errorf("printed are %s, want %s", got, want)
	}
}

func basesOf(t *testing.T, urls []string) (bases []string) {
	t.Helper()
	for _, u := range urls {
		base, _ := parsed(t, u)
		bases = append(bases, base)
	}
	return bases
}
