package early

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestMain prints a line in a process that is a reaper, which gets here only if its host has ended.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Command {
		if !Await() {
			_, _ = os.Stdout.WriteString("alone\n")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A reaper whose host says that nothing is left ends before the program begins; one whose host has ended does not.
func TestEarly(t *testing.T) {
	for said, want := range map[string]string{Over: "", "": "alone\n"} {
		var out bytes.Buffer
		cmd := exec.Command(os.Args[0], Command, "mark")
		cmd.Stdout = &out
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(in, said)
		if err2 := in.Close(); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if err := cmd.Wait(); err != nil || out.String() != want {
			t.Errorf("said %q: %v, %q", said, err, out.String())
		}
	}
}
