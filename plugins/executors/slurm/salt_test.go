package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// withStdio returns options with connection: stdio for a folder.
func withStdio(t *testing.T, dir string) *options {
	t.Helper()
	o, err := read([]byte(`{"connection": "stdio"}`))
	if err == nil {
		err = o.openConnection(&sdk.Execution{Dir: dir, Host: "127.0.0.1:1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &o
}

// B-137: nobody else can predict where an agent's socket is, and take the name: it differs between experiments and
// between leases. The next host of the experiment knows it.
func TestSocketsAreNotPredictable(t *testing.T) {
	dir := t.TempDir()
	first, again, other := withStdio(t, dir), withStdio(t, dir), withStdio(t, t.TempDir())
	path := first.sockets("th-a-1")
	if again.sockets("th-a-1") != path {
		t.Error("the next host does not find", path)
	}
	for _, path2 := range []string{other.sockets("th-a-1"), strings.Replace(first.sockets("th-a-2"), "a-2", "a-1", 1)} {
		if path2 == path {
			t.Error("predictable:", path)
		}
	}
	const maxPath = 107
	if long := first.sockets(strings.Repeat("x", 63)) + "9999" + socketName; len(long) > maxPath {
		t.Error(len(long), long)
	}
	info, err := os.Stat(filepath.Join(dir, logDir, saltFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

// Other users can read command lines, of srun on this machine too.
func TestSocketsAreOnNoCommandLine(t *testing.T) {
	o := withStdio(t, t.TempDir())
	r := &bridges{program: "/bin/tunehost", environ: []string{"A=b"}}
	socket := o.sockets("th-a-1") + "0" + socketName
	cmd := r.bridgeCommand(bundlePlace{job: "7", node: "n1", offset: -1}, socket)
	if line := strings.Join(cmd.Args, " "); strings.Contains(line, o.salt.name("th-a-1")) {
		t.Error(line)
	}
	if !slices.Contains(cmd.Env, sdk.AgentSocketVariable+"="+socket) {
		t.Error(cmd.Env)
	}
	if !slices.Contains(cmd.Args, "--export="+sdk.AgentSocketVariable) {
		t.Error(cmd.Args)
	}
	for name, text := range map[string]string{"job.sh": jobScript, "bundle.sh": bundleScript} {
		if strings.Contains(text, "--socket") {
			t.Error(name, "has it on a command line")
		}
	}
}

// A salt that is damaged is said: with another one, agents of jobs that run would not be found.
func TestDamagedSalt(t *testing.T) {
	dir := t.TempDir()
	withStdio(t, dir)
	path := filepath.Join(dir, logDir, saltFile)
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := readSalt(dir); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "damaged: remove it") {
		t.Error(err)
	}
}
