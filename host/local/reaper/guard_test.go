package reaper

import (
	"os"
	"os/exec"
	"testing"

	"github.com/tunehost/tunehost/host/local"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Command {
		Serve(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A guard starts its reaper with the first process and ends all of them, also where it has no reaper.
func TestGuard(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for what, command := range map[string]func(string) *exec.Cmd{
		"with a reaper": func(mark string) *exec.Cmd { return exec.Command(self, Command, mark) }, "without": nil,
	} {
		g := NewGuard(local.NewMarkAlone(), command)
		if err := g.Start(); err != nil {
			t.Fatal(err)
		}
		if (g.reaper != nil) != (command != nil) {
			t.Errorf("%s: %v", what, g.reaper)
		}
		c := exec.Command("sleep", "1000")
		c.Env = []string{local.MarkVariable + "=" + g.Mark}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		g.Close()
		g.Close()
		if err := c.Wait(); err == nil {
			t.Errorf("%s: the process has ended by itself", what)
		}
	}
	var none *Guard
	if err := none.Start(); err != nil {
		t.Error(err)
	}
	none.Close()
}
