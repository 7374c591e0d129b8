package toolchain

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Language is a language other than Go in which plugins are written.
type Language struct {
	// Name is the name in the summary of `make check`.
	Name string
	// programs must all be on the PATH; tests start the first one.
	programs []string
	// get says how to install them.
	get string
}

// The languages of the SDKs and of the examples.
var (
	Python         = Language{"Python", []string{"python3"}, "install Python 3.9 or newer (https://www.python.org)"}
	JavaScript     = Language{"JavaScript", []string{"node", "npm"}, "install Node.js with npm (https://nodejs.org)"}
	AssemblyScript = Language{"AssemblyScript", []string{"node", "npm"}, JavaScript.get}
	Rust           = Language{"Rust", []string{"cargo"}, "install Rust 1.88 or newer (https://rustup.rs)"}
	// C is compiled by Zig, which `make c-guests` installs with Python's pip.
	C = Language{"C", []string{"python3"}, Python.get}
	// Shell stands for programs that not every machine has in addition to its shell and coreutils;
	// see [Programs].
	Shell = Language{"Shell", []string{"sh"}, "install a shell"}
	// Slurm stands for a cluster that tests bring up on this machine; internal/engines/slurm says what it needs.
	Slurm = Language{"Slurm", []string{"sbatch", "slurmctld", "slurmd", "munged"},
		"apt-get install slurmctld slurmd slurm-client munge"}
	// Chromium is a browser, in which the dashboard is tested.
	Chromium = Language{"Chromium", []string{"chromium"}, "host/web/browser/chromium.sh installs Debian's package"}
	// Kubernetes stands for a cluster that tests bring up on this machine; internal/engines/kubernetes says what it
	// needs. It is no part of `make check`.
	Kubernetes = Language{"Kubernetes", []string{"containerd", "runc"},
		"internal/engines/kubernetes/kubernetes-build.sh builds its programs"}
)

// Tested notes that the test uses a language, which the caller has found itself.
func Tested(t testing.TB, l Language) {
	t.Helper()
	noteAtEnd(t, l)
}

// suppliers are the packages of distributions that contain the programs.
var suppliers = map[string]string{"setsid": "util-linux", "pgrep": "procps", "ps": "procps"}

// Programs looks for programs that a test's shell scripts use. If one is not installed, the test is
// skipped, or fails if Strict.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, Shell, fmt.Sprintf("%s is not installed: install %s", name, cmp.Or(suppliers[name], name)))
		}
	}
	noteAtEnd(t, Shell)
}

// Languages returns all languages, in the order of the summary.
func Languages() []Language {
	return []Language{AssemblyScript, C, Chromium, JavaScript, Python, Rust, Shell, Slurm}
}

// Strict reports whether a missing language is a failure: CI or STRICT is set.
func Strict() bool { return isSet("CI") || isSet("STRICT") }

func isSet(name string) bool {
	switch os.Getenv(name) {
	case "", "0", "false":
		return false
	}
	return true
}

// Find returns the path of the language's program, if it is installed.
func Find(l Language) (program string, ok bool) {
	program, err := exec.LookPath(l.programs[0])
	return program, err == nil
}

// Need returns the path of the language's program. If it is not installed, the test is skipped, or
// fails if Strict.
func Need(t testing.TB, l Language) (program string) {
	t.Helper()
	for _, name := range l.programs {
		path, err := exec.LookPath(name)
		if err != nil {
			Missing(t, l, name+" is not installed: "+l.get)
		}
		if program == "" {
			program = path
		}
	}
	noteAtEnd(t, l)
	return program
}

// NeedPython returns the path of a Python that can import the modules: that of `make python`, or
// the one on the PATH.
func NeedPython(t testing.TB, modules ...string) (program string) {
	t.Helper()
	program = Need(t, Python)
	made, err := filepath.Abs(filepath.Join(root(), ".tools", "venv", "bin", "python3"))
	if err == nil && imports(made, modules) {
		return made
	}
	if !imports(program, modules) {
		Missing(t, Python, fmt.Sprintf("%s cannot import %s: make python", program, strings.Join(modules, ", ")))
	}
	return program
}

// known caches the results of imports, because starting Python is slow.
var known sync.Map

func imports(python string, modules []string) bool {
	code := "import " + strings.Join(modules, ", ")
	once, _ := known.LoadOrStore(python+" "+code, sync.OnceValue(func() bool {
		return exec.Command(python, "-c", code).Run() == nil
	}))
	return once.(func() bool)()
}

// Built returns the path of a file that `make target` creates, relative to the root of the
// repository. If it does not exist, the test is skipped, or fails if Strict.
func Built(t testing.TB, l Language, file, target string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root(), file))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		Missing(t, l, fmt.Sprintf("%s is missing: make %s", file, target))
	}
	noteAtEnd(t, l)
	return path
}

// Optional skips the test if a program is not installed that nothing depends on; instead names an
// equivalent test.
func Optional(t testing.TB, program, instead string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed; %s", program, instead)
	}
}

// Missing skips the test, or fails it if Strict: why says what is missing, and how to get it.
func Missing(t testing.TB, l Language, why string) {
	t.Helper()
	note(t, l, skipped, why)
	if Strict() {
		t.Fatalf("%s is not tested, and CI or STRICT is set: %s", l.Name, why)
	}
	t.Skipf("SKIPPED: %s is NOT TESTED: %s", l.Name, why)
}

// root is the folder of the repository: the nearest parent of the test's package with a go.mod.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
})
