// Package examples tests the programs of the examples against the interface that tunehost offers to
// programs, without tunehost.
package examples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// A program of an example, as a host would start it.
type program struct {
	argv []string
	env  []string
}

func (p *program) set(name, value string) { p.env = append(p.env, name+"="+value) }

// run returns the output.
func (p *program) run(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(p.argv[1])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p.argv[0], path)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), p.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", p.argv, err, stderr.String())
	}
	return string(out)
}

// fakeTunehost records its arguments and answers stop when it has received FAKE_STOP_AT reports.
const fakeTunehost = `#!/bin/sh
shift
echo "$@" >>"$FAKE_LOG"
if [ "$(wc -l <"$FAKE_LOG")" -ge "$FAKE_STOP_AT" ]; then echo stop; else echo continue; fi
`

func descend(t *testing.T, stopAt int, checkpoint string) (reports []string, checkpoints string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tunehost"), []byte(fakeTunehost), 0o700); err != nil {
		t.Fatal(err)
	}
	p := program{argv: []string{"sh", "shell/descend.sh"}}
	p.set("PATH", dir+":"+os.Getenv("PATH"))
	p.set("FAKE_LOG", filepath.Join(dir, "log"))
	p.set("FAKE_STOP_AT", fmt.Sprint(stopAt))
	p.set("TUNEHOST_PARAM_LR", "0.001")
	p.set("TUNEHOST_PARAM_MOMENTUM", "0.9")
	p.set("TUNEHOST_CHECKPOINT_DIR", dir)
	p.set("TUNEHOST_CHECKPOINT", checkpoint)
	p.run(t)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(log)), "\n"), dir
}

func TestShell(t *testing.T) {
	t.Parallel()
	whole, dir := descend(t, 1000, "")
	if len(whole) != 27 {
		t.Fatalf("%d reports, want 27", len(whole))
	}
	var first, last float64
	scan(t, whole[0], &first)
	scan(t, whole[26], &last)
	if first < 1e-3 || last > 1e-6 {
		t.Errorf("loss goes from %v to %v, want it to fall to the floor", first, last)
	}
	if want := " --checkpoint " + dir + "/round-9"; !strings.HasSuffix(whole[8], want) {
		t.Errorf("report 9 is %q, want it to end in %q", whole[8], want)
	}
	resumed, _ := descend(t, 3, filepath.Join(dir, "round-9"))
	if len(resumed) != 3 || !slices.Equal(resumed, whole[9:12]) {
		t.Errorf("from the checkpoint %q, want %q", resumed, whole[9:12])
	}
}

func scan(t *testing.T, report string, loss *float64) {
	t.Helper()
	if _, err := fmt.Sscanf(report, "loss=%g", loss); err != nil {
		t.Fatalf("%q: %v", report, err)
	}
}

// needScikit returns a Python that has scikit-learn.
func needScikit(t *testing.T) (python string) {
	t.Helper()
	return toolchain.NeedPython(t, "sklearn")
}

// python returns a script with its parameters, or skips the test.
func python(t *testing.T, script string) program {
	t.Helper()
	interpreter := needScikit(t)
	params := filepath.Join(t.TempDir(), "params.json")
	if err := os.WriteFile(params, []byte(`{"lr": 0.03, "alpha": 0.0005, "penalty": "l1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program{argv: []string{interpreter, script}}
	p.set("TUNEHOST_PARAMS", params)
	p.set("TUNEHOST_SEED", "18446744073709551615") // the largest seed
	p.set("OMP_NUM_THREADS", "1")
	return p
}

// report is a line of train_print.py, or the metrics of a channel message.
type report struct{ Accuracy, Loss float64 }

func TestPythonPrints(t *testing.T) {
	t.Parallel()
	p := python(t, "python-script/train_print.py")
	lines := strings.Split(strings.TrimSpace(p.run(t)), "\n")
	var results []report
	for _, line := range lines {
		var r report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		results = append(results, r)
	}
	checkLearns(t, results)
}

func checkLearns(t *testing.T, results []report) {
	t.Helper()
	if len(results) != 9 {
		t.Fatalf("%d results, want 9", len(results))
	}
	if last := results[8]; last.Accuracy < 0.93 || last.Loss > 0.15 || last.Loss > results[0].Loss {
		t.Errorf("results = %v, want the last to be good", results)
	}
}

// message is a report over the channel.
type message struct {
	Metrics    report
	Iteration  int
	Checkpoint string
}

func TestPythonChannel(t *testing.T) {
	t.Parallel()
	checkpoints := t.TempDir()
	whole := overChannel(t, checkpoints, "", 99)
	var results []report
	for _, m := range whole {
		results = append(results, m.Metrics)
	}
	checkLearns(t, results)
	resumed := overChannel(t, t.TempDir(), whole[2].Checkpoint, 5)
	if !slices.Equal(resumed, whole[3:5]) {
		t.Errorf("from the checkpoint of epoch 3 until stopped at 5: %v, want %v", resumed, whole[3:5])
	}
}

// overChannel runs the script until it is told to stop at iteration stopAt.
func overChannel(t *testing.T, checkpoints, restore string, stopAt int) []message {
	t.Helper()
	p := python(t, "python-script/train_channel.py")
	dir, err := os.MkdirTemp("", "channel") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	p.set("TUNEHOST_CHANNEL", socket)
	p.set("TUNEHOST_CHECKPOINT_DIR", checkpoints)
	if restore != "" {
		p.set("TUNEHOST_CHECKPOINT", restore)
	}
	heard := make(chan []message, 1)
	go func() { heard <- answer(t, listener, stopAt) }()
	p.run(t)
	listener.Close()
	return <-heard
}

// answer is the host's side of the channel.
func answer(t *testing.T, listener net.Listener, stopAt int) (heard []message) {
	conn, err := listener.Accept()
	if err != nil {
		return nil
	}
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Errorf("%q: %v", lines.Text(), err)
		}
		heard = append(heard, m)
		decision := "continue"
		if m.Iteration >= stopAt {
			decision = "stop"
		}
		fmt.Fprintf(conn, "{\"decision\":%q}\n", decision)
	}
	return heard
}
