package slurm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// onThisNode runs the script of a command for a node here, where /tmp is another folder.
func onThisNode(t *testing.T, tmp, command string) (string, error) {
	t.Helper()
	args := onNode(command)
	args[2] = strings.ReplaceAll(readyScript, "/tmp/", tmp+"/") + command
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// B-137: the program is sent to a folder that only this user can access, and that a later job finds, even if somebody
// has taken its name.
func TestSentToAPrivateFolder(t *testing.T) {
	const content = "#!/bin/sh\necho it runs\n"
	hash := sha256.Sum256([]byte(content))
	sum := hex.EncodeToString(hash[:])
	for name, take := range map[string]func(folder string) error{
		"free":           func(string) error { return nil },
		"open to others": func(folder string) error { return os.Mkdir(folder, 0o755) },
		"a file":         func(folder string) error { return os.WriteFile(folder, nil, 0o600) },
		"a link":         func(folder string) error { return os.Symlink(filepath.Dir(folder), folder) },
		"another user's": func(folder string) error {
			if err := os.Mkdir(folder, 0o700); err != nil || os.Getuid() != 0 {
				return os.Chmod(folder, 0o777) // others than root cannot give it away
			}
			return os.Chown(folder, 65534, 65534)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			usual := filepath.Join(tmp, fmt.Sprintf("tunehost-files-%d", os.Getuid()))
			if err := take(usual); err != nil {
				t.Fatal(err)
			}
			out, _ := onThisNode(t, tmp, "ready "+sum+` && echo have || echo "need $folder"`)
			folder, needs := strings.CutPrefix(out, "need ")
			info, err := os.Lstat(folder)
			if !needs || err != nil || info.Mode() != os.ModeDir|0o700 || (folder == usual) != (name == "free") {
				t.Fatalf("%q: %v, %v", out, info, err)
			}
			part := filepath.Join(folder, "agent.part")
			if err := os.WriteFile(part, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			open, err := os.OpenFile(part, os.O_WRONLY, 0) // as Slurm may have it, so that it cannot be run
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			if out, err := onThisNode(t, tmp, "keep "+quote(part)+" "+sum); err != nil {
				t.Fatal(out, err)
			}
			if out, err := onThisNode(t, tmp, "await "+sum+` && "$program"`); out != "it runs" {
				t.Error(out, err)
			}
			if list, _ := os.ReadDir(folder); len(list) != 1 {
				t.Error("left beside the program:", list)
			}
		})
	}
}

// What another program has sent is not kept, and what somebody has changed is not run.
func TestSentProgramIsCompared(t *testing.T) {
	tmp, sum := t.TempDir(), strings.Repeat("0", 64)
	folder, err := onThisNode(t, tmp, `place; echo "$folder"`)
	if err != nil {
		t.Fatal(folder, err)
	}
	part, program := filepath.Join(folder, "agent.part"), filepath.Join(folder, "agent-"+sum)
	for path, command := range map[string]string{part: "keep " + quote(part) + " " + sum, program: "ready " + sum} {
		if err := os.WriteFile(path, []byte("evil"), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := onThisNode(t, tmp, command); err == nil {
			t.Errorf("%s: %s", command, out)
		}
		if list, _ := os.ReadDir(folder); len(list) > 0 {
			t.Errorf("%s leaves %v", command, list)
		}
	}
}

// The host sends the program only into a folder of the kind that it expects.
func TestMissingProgram(t *testing.T) {
	for said, want := range map[string]string{
		"have\n":                               "",
		"Welcome!\nneed /tmp/tunehost-files-7": "/tmp/tunehost-files-7",
		"need /tmp/tunehost-files-7-x9Y\n":     "/tmp/tunehost-files-7-x9Y",
		"need \n":                              "error",
		"need /tmp/tunehost-files-7/../x\n":    "error",
		"mktemp: no space left on device\n":    "error",
	} {
		got, err := missing(said)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A lease to whose node the program cannot be sent is lost with the words of Slurm, and its job is cancelled: nobody
// waits for its agent until another limit says that the host cannot be reached.
func TestCannotBeSent(t *testing.T) {
	b := newBench(t)
	const words = "slurmstepd: error: agent.part: No space left on device"
	b.write("srun", `#!/bin/sh
case "$*" in
*--bcast=*) echo "`+words+`" >&2; echo >> '`+filepath.Join(b.dir, "tries")+`'; exit 1;;
*ready*"echo have"*) echo "need /tmp/tunehost-files-7";;
*) echo "cp: no such file" >&2; exit 1;;
esac
`, 0o755)
	b.x.Agent = &sdk.Agent{Path: "/home/ann/tunehost", SHA256: "abc"}
	b.Send = true
	b.bridges = newBridges(&b.x, &b.options, os.Environ())
	b.bridges.unsent, b.bridges.pause, b.bridges.within = b.unsent, time.Millisecond, time.Minute
	b.must(b.allocate("th-a-1"))
	b.sets("PENDING|Priority|", "RUNNING|None|n1")
	b.looks()
	await(t, "the loss of the lease", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.heard) == 2
	})
	b.says("th-a-1 granted n1", "th-a-1 lost: the program cannot be sent to the folder /tmp/tunehost-files-7 of "+
		"the node n1: srun: "+words+"; make room there, or keep jobs off that node (args: [--exclude=n1]); or put "+
		"tunehost where all nodes see it, and name its path there with program, without send")
	b.has("th-a-1 CANCELLED")
	if n := len(b.read("tries")); n != sendTries {
		t.Errorf("%d tries", n)
	}
}

// A command that hangs is tried again: the job waits for its program.
func TestSendingHangs(t *testing.T) {
	b := newBench(t)
	b.write("srun", `#!/bin/sh
if mkdir '`+filepath.Join(b.dir, "once")+`'; then exec sleep 600; fi
echo have
`, 0o755)
	b.x.Agent = &sdk.Agent{Path: "/home/ann/tunehost", SHA256: "abc"}
	b.Send = true
	r := newBridges(&b.x, &b.options, os.Environ())
	r.pause, r.within = time.Millisecond, 500*time.Millisecond
	r.unsent = func(lease, why string) { t.Errorf("%s is given up: %s", lease, why) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.send(ctx, "th-a-1", bundlePlace{job: "7", node: "n1", offset: -1})
	if err := ctx.Err(); err != nil {
		t.Error(err)
	}
}
