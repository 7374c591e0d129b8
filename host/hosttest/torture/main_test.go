package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
)

// programs are built once for all tests.
var programs struct {
	once sync.Once
	dir  string
}

func TestMain(m *testing.M) {
	exit := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(exit)
}

// program is the file of a program: tunehost, ledger or climber.wasm.
func program(t testing.TB, name string) string {
	t.Helper()
	programs.once.Do(func() { programs.dir = build(t) })
	if programs.dir == "" {
		t.Fatal("the programs could not be built")
	}
	return filepath.Join(programs.dir, name)
}

func build(t testing.TB) string {
	t.Helper()
	const module = "github.com/tunehost/tunehost/"
	dir := public(t)
	cmd := exec.Command("go", "build", "-o", dir+"/", module+"cmd/tunehost", module+"host/hosttest/torture/ledger")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(sandboxtest.Build(t, module+"plugins/sdk/samples/searcher"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "climber.wasm"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// public returns a new directory with a short name that everybody may read.
func public(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "thtort")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err = errors.Join(err, os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// nobody is the user that runs hosts if root runs the tests: permissions apply to this user.
const nobody = 65534

func privileged() bool { return os.Getuid() == 0 }

// hostUser is the user that runs hosts.
func hostUser() int {
	if privileged() {
		return nobody
	}
	return os.Getuid()
}

// experiment is an experiment that hosts run.
type experiment struct {
	kind
	root, dir string
	hosts     int
	small     bool // it is on a small disk
	tampered  bool // its permissions were changed: trials may have failed
	left      bool // the last host has left processes behind, because its watcher was killed
	engine    *engine
}

// prepare creates the experiment's file and the files that it needs.
func prepare(t testing.TB, k kind, small bool) *experiment {
	t.Helper()
	x := &experiment{kind: k, root: public(t)}
	x.dir = filepath.Join(x.root, "results", "test")
	climber, ledger := program(t, "climber.wasm"), filepath.Join(x.root, "ledger")
	fill := strings.NewReplacer("@LOGS@", filepath.Join(x.root, "logs"), "@LEDGER@", ledger, "@CLIMBER@", climber,
		"@TUNEHOST@", program(t, "tunehost"))
	for _, name := range []string{"logs", "results", "tmp", "ledger"} {
		must(t, os.Mkdir(filepath.Join(x.root, name), 0o700))
	}
	must(t, os.Link(program(t, "ledger"), filepath.Join(ledger, "ledger")))
	write(t, filepath.Join(ledger, "plugin.yaml"), "kind: trainable\nname: ledger\ncommand: [./ledger]\n")
	write(t, x.file(), fill.Replace(k.yaml))
	for name, text := range k.scripts {
		write(t, filepath.Join(x.root, name), fill.Replace(text))
	}
	if small {
		x.onSmallDisk(t)
	}
	x.giveAway(t)
	t.Cleanup(func() { x.cleanUp(t) })
	return x
}

func (x *experiment) file() string { return filepath.Join(x.root, "test.yaml") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), 0o700))
}

// giveAway makes the host's user the owner of everything.
func (x *experiment) giveAway(t testing.TB) {
	t.Helper()
	if !privileged() {
		return
	}
	must(t, filepath.WalkDir(x.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "ledger" && !d.IsDir() { // it has another hard link elsewhere
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

// cleanUp removes everything, unless the test has failed.
func (x *experiment) cleanUp(t testing.TB) {
	hosttest.CheckNoOrphans(t, x.root)
	if t.Failed() {
		t.Logf("kept in %s", x.root)
		x.keep(t)
		return
	}
	x.unmount(t)
	if err := os.RemoveAll(x.root); err != nil {
		t.Error(err)
	}
}

// keep copies the files of a disk before it is unmounted.
func (x *experiment) keep(t testing.TB) {
	if !x.small {
		return
	}
	if text, err := exec.Command("cp", "-a", filepath.Join(x.root, "results"),
		filepath.Join(x.root, "kept")).CombinedOutput(); err != nil {
		t.Logf("%v: %s", err, text)
	}
	x.unmount(t)
}

// secret is in the hosts' environment, and must not be anywhere else (B-092).
const secret = "jq7-canary-3f81"

// cacheHome has compiled modules: a module that does not change is compiled once.
func cacheHome(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("tunehost-test-cache-%d", hostUser()))
	must(t, os.MkdirAll(dir, 0o700))
	if privileged() {
		must(t, os.Chown(dir, nobody, nobody))
	}
	return dir
}

// command returns a command that runs as the host's user.
func (x *experiment) command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t, "tunehost"), args...)
	cmd.Dir = x.root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.root, "TMPDIR=" + filepath.Join(x.root, "tmp"),
		"XDG_CACHE_HOME=" + cacheHome(t), "SOME_TOKEN=" + secret}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if privileged() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if x.engine != nil {
		cmd.Env = append(cmd.Env, x.engine.environment(x)...)
	}
	return cmd
}

func (x *experiment) runArgs(more ...string) []string {
	args := []string{"run", x.file(), "--storage", filepath.Join(x.root, "results"), "--name", "test"}
	if x.engine == nil {
		args = append(args, "--resources", "cpu=3")
	}
	return append(args, more...)
}

// does runs another command of the program and waits for its end.
func (x *experiment) does(t testing.TB, args ...string) (status int, said string) {
	t.Helper()
	cmd := x.command(t, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}
