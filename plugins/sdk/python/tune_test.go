package python_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// A wheel of this machine, installed in an environment of its own.
type wheel struct {
	python string // of that environment
	path   string // its programs, without Go
}

var (
	wheelOnce sync.Once
	wheelDir  string
)

// installedWheel builds the program and the wheel, and installs it. Packages that it depends on are
// those of the environment that `make python` makes.
func installedWheel(t *testing.T) wheel {
	t.Helper()
	base := toolchain.NeedPython(t, "grpc", "google.protobuf", "cryptography", "cloudpickle", "bayes_opt", "hyperopt",
		"nevergrad", "numpy", "optuna", "pandas", "pyarrow", "pytest", "setuptools", "xdist", "zoopt")
	wheelOnce.Do(func() { wheelDir = buildWheel(t, base) })
	if wheelDir == "" {
		t.Fatal("the wheel could not be built")
	}
	return wheel{filepath.Join(wheelDir, "venv/bin/python"), filepath.Join(wheelDir, "venv/bin") + ":/usr/bin:/bin"}
}

func buildWheel(t *testing.T, base string) string {
	dir, err := os.MkdirTemp("", "tunehost-wheel")
	if err != nil {
		t.Fatal(err)
	}
	cleanups = append(cleanups, func() { _ = os.RemoveAll(dir) })
	program, dist := filepath.Join(dir, "tunehost"), filepath.Join(dir, "dist")
	linker := "-s -w -X github.com/tunehost/tunehost/host/plugin/lockfile.release=1.0.0"
	build := exec.Command("go", "build", "-ldflags", linker, "-o", program, "../../../cmd/tunehost")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	must(t, build)
	must(t, exec.Command(base, "wheels.py", dist, "--binary", program))
	must(t, exec.Command(base, "-m", "venv", filepath.Join(dir, "venv")))
	made := filepath.Join(dir, "venv/bin/python")
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v %v", wheels, err)
	}
	must(t, exec.Command(made, "-E", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--no-index", wheels[0]))
	where := "import sysconfig; print(sysconfig.get_path('purelib'))"
	others := must(t, exec.Command(base, "-c", where))
	own := strings.TrimSpace(must(t, exec.Command(made, "-c", where)))
	if err := os.WriteFile(filepath.Join(own, "others.pth"), []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// command runs the installed Python in a folder, without Go and without this checkout.
func (w wheel) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(w.python, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + w.path, "HOME=" + dir, "LANG=C.UTF-8", "TMPDIR=" + os.TempDir()}
	return cmd
}

func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "tune", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// freshWheel installs the wheel as a user does: into an environment that has nothing else, with what it depends on from
// the index, and no Go on the PATH.
func freshWheel(t *testing.T) wheel {
	t.Helper()
	installedWheel(t)
	dir := t.TempDir()
	must(t, exec.Command(toolchain.Need(t, toolchain.Python), "-m", "venv", filepath.Join(dir, "venv")))
	fresh := wheel{filepath.Join(dir, "venv/bin/python"), filepath.Join(dir, "venv/bin") + ":/usr/bin:/bin"}
	wheels, err := filepath.Glob(filepath.Join(wheelDir, "dist/*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v %v", wheels, err)
	}
	pip := exec.Command(fresh.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheels[0])
	pip.Env = append(os.Environ(), "PATH="+fresh.path, "PYTHONPATH=") // with the user's index and cache
	if out, err := pip.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "Could not find a version") || strings.Contains(string(out), "connection") {
			toolchain.Missing(t, toolchain.Python, "the index of Python packages does not answer: "+pip.String())
		}
		t.Fatalf("%s: %v\n%s", pip, err, out)
	}
	return fresh
}

// pip installs the wheel, with its dependencies and nothing else; the program is a command and `python -m
// tunehost`, in the package's version; and the first example runs, as a script and as a module.
func TestWheel(t *testing.T) {
	w := freshWheel(t)
	if _, err := exec.Command("env", "PATH="+w.path, "sh", "-c", "command -v go").Output(); err == nil {
		t.Error("there is a Go on the PATH")
	}
	of := must(t, w.command(t.TempDir(), "-c",
		"from importlib.metadata import version; print(version('tunehost-hpo'))"))
	module := must(t, w.command(t.TempDir(), "-m", "tunehost", "version"))
	if want := "tunehost " + strings.TrimSpace(of) + " "; !strings.HasPrefix(module, want) {
		t.Errorf("python -m tunehost version: %q, expected %q", module, want)
	}
	command := exec.Command(filepath.Join(filepath.Dir(w.python), "tunehost"), "version")
	if out := must(t, command); out != module {
		t.Errorf("the command prints %q, the module %q", out, module)
	}
	w.checkPackages(t)
	w.checkExample(t)
}

// checkPackages checks that pip has brought what the package needs, and nothing large.
func (w wheel) checkPackages(t *testing.T) {
	t.Helper()
	list := must(t, w.command(t.TempDir(), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"))
	for _, name := range []string{"tunehost-hpo", "grpcio", "protobuf", "cryptography", "cloudpickle"} {
		if !strings.Contains("\n"+list, "\n"+name+"=") {
			t.Errorf("%s is not installed:\n%s", name, list)
		}
	}
	if n := strings.Count(list, "\n"); n > 12 {
		t.Errorf("pip has installed %d packages:\n%s", n, list)
	}
}

// checkExample runs the first example, as a script and as a module.
func (w wheel) checkExample(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must(t, exec.Command("cp", script(t, "example.py"), dir))
	for _, args := range [][]string{{"example.py"}, {"-m", "example"}} {
		if out := must(t, w.command(dir, args...)); !strings.Contains(out, "\nbest 0.0") {
			t.Errorf("%v prints\n%s", args, out)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "results/train_*/trials/*/result.jsonl")); len(found) != 40 {
		t.Errorf("%d trials have results, expected 40", len(found))
	}
}

// Without the program, one line says what to do.
func TestNoProgram(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	fit := "from tunehost import tune; tune.Tuner(print).fit()"
	for _, args := range [][]string{{"-m", "tunehost", "version"}, {"-c", fit}} {
		cmd := exec.Command(python(t), args...)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=/nowhere", "PYTHONPATH=" + root, "HOME=/nowhere", "PYTHONDONTWRITEBYTECODE=1"}
		out, err := cmd.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := lines[len(lines)-1]; err == nil || !strings.Contains(last, "pip install tunehost-hpo") {
			t.Errorf("%v: %v, %q", args, err, last)
		}
	}
}

// Experiments of tunehost.tune train, stop, fail, continue and are read.
func TestTune(t *testing.T) {
	t.Parallel()
	installedWheel(t).pytest(t, "tune/test_same.py", "tune/test_tune.py", "tune/test_own.py", "tune/test_mistakes.py",
		"tune/test_shown.py", "tune/test_moved.py", "tune/test_back.py", "tune/test_record.py", "tune/test_executor.py",
		"tune/test_choices.py", "tune/test_held.py")
}

// B-151: what Ray Tune has and tunehost.tune has not is an error, of one line that says what to do instead.
func TestUnsupported(t *testing.T) {
	w := installedWheel(t)
	tests, err := filepath.Abs("tests/test_tune.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command(t.TempDir(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", filepath.Dir(tests),
		tests, "-k", "not_supported or wrong_use")
	cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1")
	out := must(t, cmd)
	if m := regexp.MustCompile(`(\d+) passed`).FindStringSubmatch(out); m == nil || len(m[1]) < 2 {
		t.Errorf("expected ten refusals and more to be tested:\n%s", out)
	}
}

// Every Python program of docs/PYTHON.md runs.
func TestPythonPage(t *testing.T) {
	toolchain.NeedPython(t, "sklearn")
	w := installedWheel(t)
	page, err := os.ReadFile("../../../docs/PYTHON.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(programs) < 4 {
		t.Fatalf("the page has %d programs", len(programs))
	}
	dir := t.TempDir()
	for _, m := range programs {
		must(t, w.command(dir, "-c", m[1]))
	}
}

// B-080: a script that is killed in the middle goes on with Tuner.restore, and nothing that was recorded is lost.
func TestTuneKilled(t *testing.T) {
	w := installedWheel(t)
	dir := t.TempDir()
	run := w.command(dir, script(t, "long.py"), "run")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the first trials' results", func() bool { return results(dir) >= 12 })
	if err := run.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	w.awaitInterrupted(t, dir)
	before := results(dir)
	checkContinued(t, before, must(t, w.command(dir, script(t, "long.py"), "restore")))
}

// awaitInterrupted waits for the end of the host of a killed script.
func (w wheel) awaitInterrupted(t *testing.T, dir string) {
	t.Helper()
	await(t, "the end of the host", func() bool {
		status := must(t, w.command(dir, "-m", "tunehost", "status", "kept/long", "--json"))
		return strings.Contains(status, `"state":"interrupted"`)
	})
}

// checkContinued checks the last line of long.py: how many iterations each trial has trained, in both runs together.
func checkContinued(t *testing.T, before int, out string) {
	t.Helper()
	var ran map[string]int
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &ran); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	total := 0
	for id, n := range ran {
		total += n
		if n > 12 {
			t.Errorf("trial %s trained %d iterations, of which 10 were new: it did not continue", id, n)
		}
	}
	if before < 12 || total > 60+4 {
		t.Errorf("%d results before the kill; %d iterations in all, expected at most 64", before, total)
	}
}

// results counts the results that were recorded so far.
func results(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "kept/long/trials/*/result.jsonl"))
	n := 0
	for _, file := range files {
		text, _ := os.ReadFile(file)
		n += strings.Count(string(text), "\n")
	}
	return n
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
