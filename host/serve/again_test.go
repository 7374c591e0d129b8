package serve

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// returned opens a server of a folder with tokens in another, and ends it.
func returned(t *testing.T, tokens, folder string) (at string, notes []string) {
	t.Helper()
	o, end := begun(t, Site{Tokens: tokens})
	notes = o.Return(folder)
	at, _ = parsed(t, o.URL)
	end()
	return strings.TrimPrefix(at, "http://"), notes
}

// A server listens where the earlier ones of its folder did, so that open pages find it, and also where those of a run
// in the folder did. The addresses are for this user alone.
func TestReturn(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("WSL_DISTRO_NAME", "")
	tokens, folder := t.TempDir(), t.TempDir()
	first, _ := returned(t, tokens, folder)
	second, _ := returned(t, tokens, filepath.Join(folder, "one"))
	o, _ := begun(t, Site{Tokens: tokens})
	if notes := o.Return(folder); len(notes) > 0 {
		t.Errorf("%q", notes)
	}
	printed, _ := parsed(t, o.URL)
	for _, at := range []string{first, second} {
		if status := answered(t, "http://"+at, o.Guard.Tokens.Full); status != http.StatusOK {
			t.Errorf("%s: %d", at, status)
		}
		if isFresh := !strings.HasPrefix(at, "127.0.0.1:"); isFresh && printed == "http://"+at {
			t.Errorf("the token is shown at %s, which others may have had since", at)
		}
	}
	info, err := os.Lstat(filepath.Join(tokens, "serve-addresses"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	other, _ := begun(t, Site{Tokens: tokens})
	other.Return(t.TempDir()) // of another folder
	if len(other.every.addresses()) > 2 {
		t.Errorf("it listens at %v", other.every.addresses())
	}
}

// An address that is in use is told, and so is a file that is not the user's own. What is in it is not believed.
func TestReturnRefused(t *testing.T) {
	tokens, folder := t.TempDir(), t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(tokens, "serve-addresses")
	write := func(mode os.FileMode, addresses string) {
		t.Helper()
		_ = os.Remove(file)
		text := fmt.Sprintf("not JSON\n{\"dir\":%q,\"addresses\":[%s]}\n", plainPath(folder), addresses)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(0o600, fmt.Sprintf(`%q, "0.0.0.0:17733", "192.0.2.1:17733", "nowhere", "127.0.0.1:80"`, taken.Addr()))
	o, _ := begun(t, Site{Tokens: tokens})
	had := len(o.every.addresses())
	notes := o.Return(folder)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], taken.Addr().String()+", where an earlier") {
		t.Errorf("%q", notes)
	}
	if now := o.every.addresses(); len(now) != had {
		t.Errorf("it listens at %v", now)
	}
	write(0o644, `"127.0.0.1:17733"`)
	if notes := o.Return(folder); len(notes) != 1 || !strings.Contains(notes[0], "is not a file of yours alone") {
		t.Errorf("%q", notes)
	}
	_ = os.Remove(file)
	if err := os.Symlink(filepath.Join(t.TempDir(), "x"), file); err != nil {
		t.Fatal(err)
	}
	if notes := o.Return(folder); len(notes) != 1 || !strings.Contains(notes[0], "is not a file of yours alone") {
		t.Errorf("%q", notes)
	}
	named, _ := begun(t, Site{Tokens: tokens, Listen: "127.0.0.1:0"})
	if notes := named.Return(folder); len(notes) > 0 || named.every != nil {
		t.Errorf("at an address that the user has named: %q", notes)
	}
}
