package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-016: a trial's process is the program, not the plugin that starts it.
func TestPIDIsTheProgram(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`echo '{"accuracy": '$$'}'`), run)
	if got := run.values("accuracy"); len(run.pids) != 1 || len(got) != 1 || float64(run.pids[0]) != got[0] {
		t.Errorf("it has started as %v, and is %v", run.pids, got)
	}
}

func TestEnvironment(t *testing.T) {
	run := newRun(t)
	run.trial.Devices = []string{"0", "3"}
	mustTrain(t, sh("env; pwd").with("environ", []string{
		"PATH=" + os.Getenv("PATH"), "SECRET=s", "TUNEHOST_TRIAL_ID=outer", "CUDA_VISIBLE_DEVICES=0,1,2,3",
		"MINE=inherited",
	}).with("env", map[string]string{"MINE": "2"}), run)
	dir := run.trial.Dir
	out := "\n" + readFile(t, dir, "stdout")
	wantContains(t, out,
		"\nTUNEHOST_TRIAL_ID=t00017\n", "\nTUNEHOST_TRIAL_DIR="+dir+"\n", "\nTUNEHOST_EXPERIMENT=digits\n",
		"\nTUNEHOST_PARAMS="+dir+"/params.json\n", "\nTUNEHOST_SEED=42\n", "\nTUNEHOST_CHECKPOINT_DIR="+dir+
			"/.checkpoints\n",
		"\nTUNEHOST_PARAM_LR=1e-04\n", "\nTUNEHOST_PARAM_OPTIMIZER=sgd\n", "\nTUNEHOST_PARAM_NET_UNITS=64\n",
		"\nTUNEHOST_PARAM_NET={\"units\":64}\n", "\nCUDA_VISIBLE_DEVICES=0,3\n", "\nSECRET=s\n", "\nMINE=2\n", "\n"+dir+
			"\n")
	if strings.Contains(out, "TUNEHOST_CHECKPOINT=") {
		t.Error("a fresh start must not have TUNEHOST_CHECKPOINT")
	}
	if got := readFile(t, dir, "params.json"); got != string(run.trial.Params)+"\n" {
		t.Errorf("params.json is %q", got)
	}
}

func TestEnvironmentNotInherited(t *testing.T) {
	run := newRun(t)
	run.trial.Params = nil
	run.trial.Restore = t.TempDir()
	mustTrain(t, sh("env").with("inherit_env", false).with("env", map[string]string{"A": "1"}).with("environ",
		[]string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "LANG=C", "TMPDIR=/tmp", "SECRET=s", "PYTHONPATH=x"}), run)
	var got []string
	for line := range strings.Lines(readFile(t, run.trial.Dir, "stdout")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "_" && name != "SHLVL" && name != "OLDPWD" { // set by the shell itself
			got = append(got, name)
		}
		if name == "CUDA_VISIBLE_DEVICES" && value != "" {
			t.Errorf("no GPU was granted, but %s", line)
		}
	}
	slices.Sort(got)
	want := []string{"A", "CUDA_VISIBLE_DEVICES", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "TUNEHOST_CHANNEL",
		"TUNEHOST_CHECKPOINT",
		"TUNEHOST_CHECKPOINT_DIR", "TUNEHOST_EXPERIMENT", "TUNEHOST_PARAMS", "TUNEHOST_SEED", "TUNEHOST_TRIAL_DIR",
		"TUNEHOST_TRIAL_ID"}
	if !slices.Equal(got, want) {
		t.Errorf("environment is\n%v, want\n%v", got, want)
	}
}

// B-091 B-092
func TestLogs(t *testing.T) {
	for name, c := range map[string]struct {
		log  any
		want map[string]string
	}{
		"two files": {true, map[string]string{"stdout": "out\nout\n", "stderr": "err\nerr\n"}},
		"one file":  {map[string]string{"stdout": "log", "stderr": "log"}, nil},
		"only one":  {map[string]string{"stderr": "e"}, map[string]string{"e": "err\nerr\n"}},
		"none":      {false, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			run := newRun(t)
			o := sh("echo out; echo err >&2").with("log", c.log)
			mustTrain(t, o, run)
			mustTrain(t, o, run) // a later attempt appends
			files, _ := os.ReadDir(run.trial.Dir)
			for _, f := range files {
				if info, _ := f.Info(); info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s is readable by others", f.Name())
				}
			}
			if c.want == nil {
				if got := readFile(t, run.trial.Dir, "log"); len(got) != len("outerrouterr")+4 {
					t.Errorf("log is %q", got)
				}
				return
			}
			if len(files) != len(c.want)+2 { // params.json and .checkpoints
				t.Errorf("files: %v", files)
			}
			for f, want := range c.want {
				if got := readFile(t, run.trial.Dir, f); got != want {
					t.Errorf("%s is %q", f, got)
				}
			}
		})
	}
}

func TestCommandTemplate(t *testing.T) {
	base := t.TempDir()
	for _, f := range []string{"train.sh", "data"} {
		if err := os.WriteFile(filepath.Join(base, f), []byte("#!/bin/sh\nfor a; do echo \"<$a>\"; done\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := newRun(t)
	mustTrain(t, opts{"base_dir": base, "command": []string{
		"train.sh", "--lr={lr}", "{optimizer}/{net/units}", "{params}", "{{x}}", "data", "", "nodata"}}, run)
	want := "<--lr=1e-04>\n<sgd/64>\n<" + run.trial.Dir + "/params.json>\n<{x}>\n<" + base + "/data>\n<>\n<nodata>\n"
	if got := readFile(t, run.trial.Dir, "stdout"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// B-106: all parameters as flags, as separate arguments or as words of a shell.
func TestFlags(t *testing.T) {
	run := newRun(t)
	run.trial.Params = []byte(`{"lr":0.1,"name":"it's a","net":{"units":64},"none":{},"tags":[1,2]}`)
	mustTrain(t, opts{"command": []string{"sh", "-c", `for a; do echo "<$a>"; done; echo {flags}`, "sh", "{flags}",
		"x"},
		"parameters": []string{"lr", "name", "net/units", "none", "tags", "absent"}}, run)
	want := "<--lr=0.1>\n<--name=it's a>\n<--net.units=64>\n<--none={}>\n<--tags=[1,2]>\n<x>\n" +
		"--lr=0.1 --name=it's a --net.units=64 --none={} --tags=[1,2]\n"
	if got := readFile(t, run.trial.Dir, "stdout"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	run = newRun(t) // a parameter of that name takes precedence
	run.trial.Params = []byte(`{"flags":"mine"}`)
	mustTrain(t, opts{"command": []string{"echo", "{flags}"}, "parameters": []string{"flags"}}, run)
	if got := readFile(t, run.trial.Dir, "stdout"); got != "mine\n" {
		t.Error(got)
	}
}

// A program starts in the trial's directory, or in the one of the file.
func TestCWD(t *testing.T) {
	base := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(base, "src"), 0o700),
		os.WriteFile(filepath.Join(base, "src", "data.csv"), []byte("1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	run := newRun(t)
	mustTrain(t, sh(`cat data.csv; pwd; echo $PWD; mkdir $TUNEHOST_CHECKPOINT_DIR/c; echo '{"accuracy": 1, `+
		`"checkpoint": "'$TUNEHOST_CHECKPOINT_DIR/c'"}'`).
		with("base_dir", base).with("cwd", "src"), run)
	src := filepath.Join(base, "src")
	if got := readFile(t, run.trial.Dir, "stdout"); !strings.HasPrefix(got, "1\n"+src+"\n"+src+"\n") ||
		run.results[0].Checkpoint == "" {
		t.Errorf("%s, %+v", got, run.results)
	}
	err := train(t, sh(`:`).with("base_dir", base).with("cwd", "nosuch"), newRun(t))
	if _, ok := errors.AsType[*sdk.StartError](err); !ok || !strings.Contains(err.Error(), "trainable.cwd") {
		t.Error(err)
	}
}

// A program that misses a file beside the experiment file gets a hint about cwd.
func TestMissingFileIsElsewhere(t *testing.T) {
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "data.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for script, hints := range map[string]int{
		`cat data.csv`: 1, `python3 -c 'open("data.csv")'`: 1, `cat other.csv`: 0, `cat ./data.csv; exit 0`: 0,
	} {
		t.Run(script, func(t *testing.T) {
			if strings.HasPrefix(script, "python3") {
				toolchain.Need(t, toolchain.Python)
			}
			run := newRun(t)
			err := train(t, sh(script+" || exit 1").with("base_dir", base), run)
			hinted := run.hinted()
			found := strings.Contains(hinted, "data.csv lies beside the experiment file") &&
				strings.Contains(hinted, "cwd: .")
			if found != (hints == 1) || (err == nil) != strings.Contains(script, "exit 0") {
				t.Errorf("%v; %s", err, hinted)
			}
		})
	}
}

// A relative path that is nowhere is looked for in the trial's directory, which the user may not know.
func TestMissingFileHasARelativePath(t *testing.T) {
	for script, name := range map[string]string{
		`cat other.csv`:                "other.csv",
		`cat ../data/other.csv`:        "../data/other.csv",
		`cat "my data.csv"`:            "my data.csv",
		`python3 -c 'open("./o.csv")'`: "./o.csv",
		`python3 o.py`:                 "o.py", // it says the whole path
		`cat /none/other.csv`:          "",
		`cat other.csv; echo bye >&2`:  "", // it ends for another reason
		`nosuchprogram`:                "",
	} {
		if strings.HasPrefix(script, "python3") {
			toolchain.Need(t, toolchain.Python)
		}
		for cwd, hinted := range map[string]bool{"": true, t.TempDir(): false} {
			run := newRun(t)
			o := sh("LC_ALL=C; export LC_ALL; "+script+"; exit 1").with("base_dir", t.TempDir())
			if cwd != "" {
				o = o.with("cwd", cwd)
			}
			if err := train(t, o, run); err == nil {
				t.Errorf("%s: it ends well", script)
			}
			want := "it looked for " + name + " in the directory of its trial"
			if got := run.hinted(); strings.Contains(got, "it looked for") != (hinted && name != "") ||
				hinted && name != "" && !strings.Contains(got, want) {
				t.Errorf("%s in %q: %s", script, cwd, got)
			}
		}
	}
}

func TestPlaceholders(t *testing.T) {
	err := train(t, opts{"command": []string{"echo", "{momentum}"}}, newRun(t))
	if _, ok := errors.AsType[*sdk.StartError](err); !ok {
		t.Errorf("an unknown placeholder: %v", err)
	}
	wantContains(t, err.Error(), "{momentum}")
	// If the host names the space's parameters, one that this trial lacks is empty.
	run := newRun(t)
	mustTrain(t, opts{"command": []string{"echo", "<{momentum}>"}, "parameters": []string{"lr", "momentum"}}, run)
	if got := readFile(t, run.trial.Dir, "stdout"); got != "<>\n" {
		t.Errorf("got %q", got)
	}
}

func TestBadOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{`:                            "options",
		`{"command":[]}`:               `option "command" is []; allowed: a list that is not empty`,
		`{"command":[""]}`:             "command is empty",
		`{}`:                           `option "command" is missing; allowed: a list that`,
		`{"command":["a"],"colour":1}`: "colour",
		`{"command":["a","{lx}"],"parameters":["lr"]}`:                "{lx}",
		`{"command":["a"],"deadline":-1}`:                             "deadline",
		`{"command":["a"],"log":{"stdout":"../x"}}`:                   "log",
		`{"command":["a"],"log":{"stdout":"params.json"}}`:            "log",
		`{"command":["a"],"log":{"sdtout":"x"}}`:                      "sdtout",
		`{"command":["a"],"env":{"A=B":"x"}}`:                         "env",
		`{"command":["a"],"env":{"TUNEHOST_SEED":"1"}}`:               "TUNEHOST_SEED",
		`{"command":["a"],"metrics":{"acc":"("}}`:                     "acc",
		`{"command":["a"],"metrics":{"a\u0007":"x"}}`:                 "unprintable character",
		`{"command":["a"],"metrics":{"loss":"x"},"objectives":["y"]}`: "y",
	} {
		_, _, err := Plugin().Open([]byte(options))
		if err == nil {
			t.Errorf("%s was taken", options)
			continue
		}
		wantContains(t, err.Error(), want)
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	}
}

// B-074
func TestCannotStart(t *testing.T) {
	base := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain.py", "print(1)", 0o600)
	write("noexec.py", "print(1)\n", 0o700)
	write("badinterp", "#!/no/such/interpreter\n", 0o700)
	for program, want := range map[string][]string{
		"no-such-program": {"no-such-program", "PATH", "check the spelling"},
		"./missing.py":    {"missing.py", "check the spelling"},
		"plain.py":        {"plain.py", "not executable", "chmod +x", "[python3, train.py]"},
		"noexec.py":       {"noexec.py", "#! line"},
		"badinterp":       {"badinterp", "no such file"},
		".":               {"directory"},
	} {
		err := train(t, opts{"command": []string{program}, "base_dir": base}, newRun(t))
		if _, ok := errors.AsType[*sdk.StartError](err); !ok {
			t.Errorf("%s: %v", program, err)
			continue
		}
		wantContains(t, err.Error(), want...)
	}
}

func TestRestoreMissing(t *testing.T) {
	run := newRun(t)
	run.trial.Restore = "/no/such/checkpoint"
	err := train(t, sh("exit 0"), run)
	if _, ok := errors.AsType[*sdk.RestoreError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestStrangeParameters(t *testing.T) {
	run := newRun(t)
	run.trial.Params = []byte(`{"a-b":1,"a_b":2,"nul":"x\u0000y"}`)
	err := train(t, sh("exit 0"), run)
	if _, ok := errors.AsType[*sdk.StartError](err); !ok {
		t.Errorf("a zero byte: %v", err)
	}
	wantContains(t, run.logged(), "a-b", "a_b", "TUNEHOST_PARAM_A_B")
	run.trial.Params = []byte(`[1]`)
	if err := train(t, sh("exit 0"), run); err == nil {
		t.Error("parameters that are no object were taken")
	}
}

// bareExec is the minimum cost of starting a program in Go.
func BenchmarkBareExec(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrial(b *testing.B) {
	p := openTest(b, opts{"command": []string{"/bin/true"}})
	run := newRun(b)
	for b.Loop() {
		if err := p.Train(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPrinted measures one printed result, from the pipe to the host.
func BenchmarkPrinted(b *testing.B) {
	p := openTest(b, sh(`yes '{"accuracy": 0.5, "loss": 0.25}' | head -n `+strconv.Itoa(b.N)))
	run := &fakeRun{trial: newRun(b).trial, decide: func(sdk.Result) error { return nil }}
	if err := p.Train(b.Context(), run); err != nil {
		b.Fatal(err)
	}
}

// A log that cannot be written fails the attempt, and nothing else.
func TestLogCannotBeWritten(t *testing.T) {
	run := newRun(t)
	if err := os.Mkdir(filepath.Join(run.trial.Dir, "stdout"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := train(t, sh("true"), run); err == nil || !strings.Contains(err.Error(), "log") {
		t.Errorf("it ended with %v", err)
	}
}

// A program may report before this process has said that it started: the host hears of the start
// first.
func TestStartedBeforeResults(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("REPORT_CLIENT", "1")
	for _, script := range []string{
		`echo '{"accuracy":1}'; touch reported`,
		`touch reported; "` + exe + `" accuracy 1`,
	} {
		run := newRun(t)
		run.starting = func() {
			eventually(t, "the program reports", func() bool { return exists(run, "reported") })
			time.Sleep(50 * time.Millisecond) // for a result that does not wait
		}
		mustTrain(t, sh(script), run)
		if run.early || len(run.results) != 1 {
			t.Errorf("%s: a result before the start: %v; results %v", script, run.early, run.results)
		}
	}
}
