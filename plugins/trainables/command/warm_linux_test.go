package command

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// alikeWarm are scripts that must not see a difference between a warm interpreter and one of their own.
var alikeWarm = map[string]string{
	"what a script sees": `
import decimal, json, os, sys
import helper
from helper import inside
print(__name__, __file__, sys.argv, sys.path[0], os.getcwd(), __spec__, sorted(os.environ), sys.stdin.read())
print(os.getpgid(0) == os.getpid(), os.environ["TUNEHOST_TRIAL_ID"], os.environ["TUNEHOST_PARAM_LR"])
print(sys.modules["__main__"].json is json, inside, __annotations__ if "__annotations__" in globals() else None)
import pickle
class Mine: pass
print(type(pickle.loads(pickle.dumps(Mine()))).__name__, __doc__)
print(json.dumps({"accuracy": 0.5}))
`,
	"an exception": `
import json
def fails(): raise KeyError("mine")
fails()
`,
	"a syntax error": "import json\nprint(\n",
	"a status":       "import atexit, sys\natexit.register(print, 'at the end')\nsys.exit(7)\n",
	"a text":         "import sys\nsys.exit('no data')\n",
	"a module that does not exist": `
import no_such_module
`,
	"threads of its own": `
import threading
threading.Thread(target=lambda: print('{"accuracy": 1}')).start()
`,
	"a signal": "import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n",
}

const helper = `
import os
import fractions
inside = os.environ["TUNEHOST_TRIAL_ID"]
print("the module beside the script runs")
`

// beside writes files beside the script of a command.
func beside(t *testing.T, o opts, files map[string]string) opts {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(o["base_dir"].(string), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// seen is what a trial leaves behind, without what differs between any two runs.
func seen(t *testing.T, o opts) string {
	t.Helper()
	run := newRun(t)
	err := train(t, o, run)
	text := readFile(t, run.trial.Dir, "stdout") + "---\n" + readFile(t, run.trial.Dir, "stderr") + "---\n"
	if err != nil {
		text += err.Error()
	}
	results, err := json.Marshal(run.results)
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text+string(results), run.trial.Dir, "DIR")
	return regexp.MustCompile(` 0x[0-9a-f]+|process \d+`).ReplaceAllString(text, "")
}

// A script in a fork of a warm interpreter sees, prints and fails as one with an interpreter of its own.
func TestWarmIsAlike(t *testing.T) {
	for name, code := range alikeWarm {
		t.Run(name, func(t *testing.T) {
			o := beside(t, python(t, code), map[string]string{"helper.py": helper})
			cold := seen(t, o)
			if warm := seen(t, o.with("warm", true)); warm != cold {
				t.Errorf("warm:\n%s\n\ncold:\n%s", warm, cold)
			}
		})
	}
}

// installed makes a folder of modules for PYTHONPATH, each of which notes the process that imports it.
func installed(t *testing.T, modules map[string]string) (dir, noted string) {
	t.Helper()
	dir = t.TempDir()
	noted = filepath.Join(dir, "noted")
	for name, code := range modules {
		note := "import os\nopen(" + `"` + noted + `"` + ", 'a').write('" + name + " %d\\n' % os.getpid())\n"
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(note+code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, noted
}

// Installed modules are imported once for all trials, those that modules beside the script import too; trials run
// at the same time, each in a process of its own, with random numbers of their own.
func TestWarmImportsOnce(t *testing.T) {
	dir, noted := installed(t, map[string]string{"heavy": "", "deeper": "", "later": ""})
	o := beside(t, python(t, `
import heavy, helper, json, os, random
def main():
    import later
    print(json.dumps({"accuracy": os.getpid(), "drawn": random.random()}))
main()
`), map[string]string{"helper.py": "try:\n    from deeper import os\nexcept ImportError:\n    pass\n"})
	p := openTest(t, o.with("warm", true).with("env", map[string]string{"PYTHONPATH": dir}))
	runs := []*fakeRun{newRun(t), newRun(t), newRun(t)}
	ended := make(chan error)
	for _, run := range runs {
		go func() { ended <- p.Train(t.Context(), run) }()
	}
	for range runs {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	drawn := map[float64]bool{}
	for _, run := range runs {
		pids := run.values("accuracy")
		if len(pids) != 1 || len(run.pids) != 1 || float64(run.pids[0]) != pids[0] {
			t.Fatalf("it has started as %v, and is %v", run.pids, pids)
		}
		drawn[pids[0]], drawn[run.values("drawn")[0]] = true, true
	}
	if len(drawn) != 6 {
		t.Errorf("process ids and random numbers: %v", drawn)
	}
	text := readFile(t, noted)
	if strings.Count(text, "heavy") != 1 || strings.Count(text, "deeper") != 1 || strings.Count(text, "later") != 3 {
		t.Error(text)
	}
}

// A warm trial is stopped, paused and killed like any other (B-023).
func TestWarmStops(t *testing.T) {
	run := newRun(t)
	run.decide = func(sdk.Result) error { return sdk.ErrStopped }
	o := python(t, `
import json, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("asked"), sys.exit(0)))
print(json.dumps({"accuracy": 1}), flush=True)
time.sleep(600)
`)
	if err := train(t, o.with("warm", true), run); err != sdk.ErrStopped {
		t.Error(err)
	}
	wantContains(t, readFile(t, run.trial.Dir, "stdout"), "asked")
}

func TestWarmIsKilled(t *testing.T) {
	run := newRun(t)
	ctx, cancel := context.WithCancel(t.Context())
	run.starting = func() { time.AfterFunc(50*time.Millisecond, cancel) }
	p := openTest(t, python(t, "import time\ntime.sleep(600)\n").with("warm", true))
	if err := p.Train(ctx, run); err == nil {
		t.Error("it ended by itself")
	}
}

// An interpreter that runs threads is not forked, and one that dies is replaced.
func TestWarmRefuses(t *testing.T) {
	dir, _ := installed(t, map[string]string{
		"threads": "import threading as t\nt.Thread(target=t.Event().wait, name='pool', daemon=True).start()\n",
		"dies":    "os._exit(3)\n",
	})
	for code, want := range map[string]string{
		"import threads\n": "train.py cannot be forked: the modules that it imports have started threads (pool): " +
			"leave out warm",
		"import dies\n": "train.py has ended; the log of the plugin command says more: try without warm",
	} {
		p := openTest(t, python(t, code).with("warm", true).with("env", map[string]string{"PYTHONPATH": dir}))
		for range 2 {
			if err := p.Train(t.Context(), newRun(t)); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

// Processes that a warm trial leaves behind end with it.
func TestWarmLeavesNothing(t *testing.T) {
	run := newRun(t)
	mustTrain(t, python(t, `
import json, os, subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
forked = os.fork()
if forked == 0:
    os.setsid()
    import time
    time.sleep(600)
print(json.dumps({"accuracy": child.pid, "forked": forked}))
`).with("warm", true), run)
	for _, metric := range []string{"accuracy", "forked"} {
		pid := int(run.values(metric)[0])
		eventually(t, metric+" ends", func() bool {
			_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
			return err != nil || isZombie(pid)
		})
	}
}

// B-025: a trial in a fork of a warm interpreter has the host's mark where the next host looks for it.
func TestWarmHasMark(t *testing.T) {
	t.Setenv("TUNEHOST_HOST", "/exp#0123456789abcdef")
	run := newRun(t)
	o := python(t, `
import json, os
shown = open("/proc/self/environ").read().split("\0")
print(json.dumps({"accuracy": "TUNEHOST_HOST=" + os.environ["TUNEHOST_HOST"] in shown,
    "others": sum(v.startswith("TUNEHOST_") for v in shown) - 1}))
`)
	if err := train(t, o.with("warm", true), run); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, run.trial.Dir, "stdout"); !strings.Contains(text, `{"accuracy": true, "others": 0}`) {
		t.Error(text)
	}
}

// B-071: an interpreter that is killed, while it starts, while trials begin or later, is replaced, and its trials
// begin with the next one; no trial begins twice.
func TestWarmInterpreterIsKilled(t *testing.T) {
	dir, noted := installed(t, map[string]string{
		"once": "import os, signal\nmark = __file__ + '.killed'\nif not os.path.exists(mark):\n" +
			"    open(mark, 'w').close()\n    os.kill(os.getpid(), signal.SIGKILL)\n",
	})
	o := python(t, `
import once, json, os
open(os.path.join(os.environ["TUNEHOST_TRIAL_DIR"], "begun"), "a").write("x")
print(json.dumps({"accuracy": 1}))
`)
	p := openTest(t, o.with("warm", true).with("env", map[string]string{"PYTHONPATH": dir}))
	for range 3 {
		ended := make(chan error)
		runs := []*fakeRun{newRun(t), newRun(t)}
		for _, run := range runs {
			go func() { ended <- p.Train(t.Context(), run) }()
		}
		for range runs {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for _, run := range runs {
			if begun := readFile(t, run.trial.Dir, "begun"); begun != "x" {
				t.Errorf("a trial has begun as %q", begun)
			}
		}
		words := strings.Fields(readFile(t, noted))
		pid, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(readFile(t, noted), "once"); n != 4 {
		t.Errorf("%d interpreters have started", n)
	}
}

// B-071: a trial whose interpreters always end fails as one whose program fails, so that retries count.
func TestWarmNeverStarts(t *testing.T) {
	dir, noted := installed(t, map[string]string{"dies": "os._exit(3)\n"})
	p := openTest(t, python(t, "import dies\n").with("warm", true).with("env", map[string]string{"PYTHONPATH": dir}))
	err := p.Train(t.Context(), newRun(t))
	if _, final := errors.AsType[*sdk.StartError](err); err == nil || final {
		t.Errorf("it fails for good: %v", err)
	}
	if n := strings.Count(readFile(t, noted), "dies"); n != triedInterpreters {
		t.Errorf("%d interpreters have started", n)
	}
}

// A fork does not begin if its interpreter is killed before anybody has heard of it.
func TestWarmForkWaits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "train.py")
	python := toolchain.Need(t, toolchain.Python)
	if err := os.WriteFile(path, []byte("open('begun', 'w')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: os.Environ(), Files: []uintptr{0, 2, 2}}
	w := newWarm()
	i := w.interpreter(path, python, []string{"python3"}, attr)
	t.Cleanup(func() { w.forget(i) })
	if <-i.ready; i.why != nil {
		t.Fatal(i.why)
	}
	wait, begin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	children.mu.Lock()
	defer children.mu.Unlock()
	pid, err := i.ask(forkMessage([]string{path}, attr), append(attr.Files, wait.Fd()))
	if err := errors.Join(err, wait.Close(), begin.Close()); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 1 {
		t.Errorf("it ends with %d: %v", status.ExitStatus(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
		t.Error("it has begun")
	}
}
