package claims

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// TestMain can also be a host that claims a GPU and waits to be killed.
func TestMain(m *testing.M) {
	name := os.Getenv("CLAIMS_CHILD")
	if name == "" {
		os.Exit(m.Run())
	}
	_, err := Enter(func(Others) (Claim, error) { return claimOf(name), nil })
	fmt.Println(err)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
}

func claimOf(name string) Claim {
	return Claim{Experiment: name, Dir: "/results/" + name, PID: 1, CPUs: 1.5,
		GPUs: []GPU{{Index: "0", UUID: "GPU-" + name}}}
}

// seen returns the claims that the next host sees; it enters nothing.
func seen(t *testing.T) []Claim {
	t.Helper()
	return look(t).Claims
}

func look(t *testing.T) (found Others) {
	t.Helper()
	no := errors.New("no")
	if _, err := Enter(func(others Others) (Claim, error) { found = others; return Claim{}, no }); !errors.Is(err, no) {
		t.Fatal(err)
	}
	return found
}

// B-138: other hosts see a claim as long as its host lives.
func TestClaims(t *testing.T) {
	testplace.Alone(t)
	if got := seen(t); got != nil {
		t.Fatalf("an empty machine has %v", got)
	}
	e, err := Enter(func(Others) (Claim, error) { return claimOf("a"), nil })
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CLAIMS_CHILD=b")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said string
	if _, err := fmt.Fscanln(out, &said); err != nil || said != "<nil>" {
		t.Fatal(said, err)
	}
	if got := seen(t); len(got) != 2 {
		t.Errorf("two hosts hold %v", got)
	}
	e.Leave()
	if got := seen(t); !reflect.DeepEqual(got, []Claim{claimOf("b")}) {
		t.Errorf("after one has left, there is %v", got)
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	if got := seen(t); got != nil {
		t.Errorf("of a dead host there is %v", got)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b GPU
		want bool
	}{
		{GPU{"0", "GPU-a"}, GPU{"0", "GPU-b"}, false}, // as in two containers
		{GPU{"0", "GPU-a"}, GPU{"1", "GPU-a"}, true},
		{GPU{"0", ""}, GPU{"0", "GPU-a"}, true},
		{GPU{"0", ""}, GPU{"1", ""}, false},
		{GPU{"", ""}, GPU{"", ""}, false},
	} {
		if got := c.a.Same(c.b); got != c.want || c.b.Same(c.a) != got {
			t.Errorf("%v and %v: %t", c.a, c.b, got)
		}
	}
}

// B-138: an unreadable claim of a living host does not count as an empty one.
func TestUnreadClaims(t *testing.T) {
	testplace.Alone(t)
	e, err := Enter(func(Others) (Claim, error) { return claimOf("a"), nil })
	if err != nil {
		t.Fatal(err)
	}
	defer e.Leave()
	file := filepath.Join(e.folder.Path(), claimFile)
	for what, spoil := range map[string]func() error{
		"garbage":  func() error { return os.WriteFile(file, []byte("{"), 0o600) },
		"empty":    func() error { return os.WriteFile(file, nil, 0o600) },
		"a folder": func() error { return os.Mkdir(file, 0o700) },
		"a link":   func() error { return os.Symlink("/dev/zero", file) },
	} {
		if err := errors.Join(os.RemoveAll(file), spoil()); err != nil {
			t.Fatal(err)
		}
		if all := look(t); len(all.Claims) != 0 || all.Unread == nil || !strings.Contains(all.Unread.Error(), file) {
			t.Errorf("%s: %+v", what, all)
		}
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if all := look(t); all.Unread != nil {
		t.Errorf("a folder without a claim: %v", all.Unread)
	}
}

// B-138: the claim of a host counts even if its folder has got other permissions.
func TestClaimsOfOpenedFolders(t *testing.T) {
	testplace.Alone(t)
	e, err := Enter(func(Others) (Claim, error) { return claimOf("a"), nil })
	if err != nil {
		t.Fatal(err)
	}
	defer e.Leave()
	if err := os.Chmod(e.folder.Home(), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := seen(t); len(got) != 1 {
		t.Errorf("a host whose folder others can list holds %v", got)
	}
}
