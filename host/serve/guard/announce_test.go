package guard

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// The URL of a server that was killed is replaced by that of one which runs; that of a server which runs stays.
func TestKilledServerIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, URLName)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, err := Announce(listen(), dir, "http://this")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	alive := listen()
	defer alive.Close()
	for _, other := range []string{"http://" + alive.Addr().String() + "\n", "http://this\n", "no URL\n"} {
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if a.(*announced).isLeft(map[string]bool{}) {
			t.Errorf("%q is taken for the URL of a server that is gone", other)
		}
	}
	killed := listen()
	if err := os.WriteFile(path, []byte("http://"+killed.Addr().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = killed.Close()
	testplace.Soon(t, "the URL of the server that runs", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && string(text) == "http://this\n"
	})
}
