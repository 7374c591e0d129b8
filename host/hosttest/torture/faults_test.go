package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fault is an action on an experiment while a host runs it.
type fault struct {
	name   string
	weight int
	// possible, if set, reports whether the fault applies to the experiment.
	possible func(*experiment) bool
	do       func(testing.TB, *host, *rand.Rand)
}

// faults lists all faults.
var faults = []fault{
	{"kill host", 45, nil, killHost},
	{"kill group", 4, nil, killGroup},
	{"kill host and reaper", 3, nil, killBoth},
	{"kill searcher", 7, nil, killRole(searcher)},
	{"kill scheduler", 7, nil, killRole(scheduler)},
	{"kill trainable", 8, nil, killRole(trainable)},
	{"kill trial", 40, func(x *experiment) bool { return len(x.scripts) > 0 }, killRole(trial)},
	{"kill child", 2, nil, killRole(other)},
	{"freeze host", 3, nil, freezeHost},
	{"freeze others", 4, nil, freezeOthers},
	{"interrupt", 3, nil, interrupt(1)},
	{"interrupt twice", 3, nil, interrupt(2)},
	{"second host", 2, nil, secondHost},
	{"full disk", 6, func(x *experiment) bool { return x.small }, fullDisk},
	{"no permission", 6, func(*experiment) bool { return privileged() }, noPermission},
	{"no record", 3, nil, noRecord},
	{"frozen record", 2, func(x *experiment) bool { return privileged() && !x.small }, frozenRecord},
}

// draw picks a possible fault.
func draw(x *experiment, rng *rand.Rand) fault {
	sum := 0
	for _, f := range faults {
		sum += f.odds(x)
	}
	n := rng.IntN(sum)
	for _, f := range faults {
		if n -= f.odds(x); n < 0 {
			return f
		}
	}
	panic("unreachable")
}

func (f fault) odds(x *experiment) int {
	if f.possible != nil && !f.possible(x) {
		return 0
	}
	return f.weight
}

// dies waits for a host that was killed.
func (h *host) dies(t testing.TB, what string) {
	t.Helper()
	h.killed = true
	if !h.within(patience) {
		t.Fatalf("process %d does not die", h.pid)
	}
	if h.status < 0 {
		h.did(what)
	}
}

func killHost(t testing.TB, h *host, _ *rand.Rand) {
	h.signal(syscall.SIGKILL, false)
	h.dies(t, "host killed")
}

func killGroup(t testing.TB, h *host, _ *rand.Rand) {
	h.signal(syscall.SIGKILL, true)
	h.dies(t, "host killed with its group")
}

// killBoth also kills the watcher, so that the next host must end the processes of this one (B-025).
func killBoth(t testing.TB, h *host, _ *rand.Rand) {
	for _, p := range h.x.processes() {
		if p.is == reaper {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	h.signal(syscall.SIGKILL, false)
	h.dies(t, "host killed with its reaper")
	h.x.left = true
}

// find waits a moment for processes of the role.
func (h *host) find(t testing.TB, r role) (list []process) {
	h.await(t, 30*time.Second, func() bool {
		for _, p := range h.x.processes() {
			if p.is == r {
				list = append(list, p)
			}
		}
		return len(list) > 0
	})
	return list
}

// killRole kills one of the host's processes, or all with the role at once. Some
// plugins may be killed so often that the host gives them up.
func killRole(r role) func(testing.TB, *host, *rand.Rand) {
	return func(t testing.TB, h *host, rng *rand.Rand) {
		list := h.find(t, r)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if len(list) > 1 && rng.IntN(2) == 0 {
			list = list[:1]
		}
		for _, p := range list {
			if err := syscall.Kill(p.pid, syscall.SIGKILL); err == nil {
				h.did(string(r) + " killed")
			}
		}
		// A plugin that is killed while it starts is an error for the user.
		h.excuse("is given up", "ended by signal 9")
	}
}

func freezeHost(t testing.TB, h *host, rng *rand.Rand) {
	h.signal(syscall.SIGSTOP, false)
	h.within(upTo(rng, 400*time.Millisecond))
	h.signal(syscall.SIGCONT, false)
	h.did("host frozen")
}

func freezeOthers(t testing.TB, h *host, rng *rand.Rand) {
	list := h.x.processes()
	for _, p := range list {
		_ = syscall.Kill(p.pid, syscall.SIGSTOP)
	}
	h.within(upTo(rng, 400*time.Millisecond))
	for _, p := range list {
		_ = syscall.Kill(p.pid, syscall.SIGCONT)
	}
	h.did("plugins and trials frozen")
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}

// interrupt is Ctrl-C, which a terminal sends to the whole group.
func interrupt(times int) func(testing.TB, *host, *rand.Rand) {
	return func(t testing.TB, h *host, rng *rand.Rand) {
		h.told = true
		group := rng.IntN(2) == 0
		for range times {
			h.signal(syscall.SIGINT, group)
			h.await(t, patience, func() bool { return strings.Contains(h.said(), "Ctrl-C again kills") })
			h.within(100*time.Millisecond + upTo(rng, 100*time.Millisecond)) // sooner, two would count as one
		}
		h.ends(t)
		h.did([]string{"", "host interrupted", "host interrupted twice"}[times])
	}
}

// secondHost checks that a second host is refused, with the name of the first (B-085).
func secondHost(t testing.TB, h *host, _ *rand.Rand) {
	if !h.await(t, time.Second, h.holds) {
		return
	}
	status, said := h.x.does(t, h.x.runArgs()...)
	switch {
	case status == 2 && strings.Contains(said, "is in use by process"):
		h.did("second host refused")
	case status == 2 && strings.Contains(said, "or leaving"), status == 0:
		if !h.within(patience) { // the first host was not about to end
			t.Errorf("a second host ended with status %d beside the first:\n%s", status, said)
		}
	case status == 1 && h.x.tampered && strings.Contains(said, " failed"): // it ran after the first
	default:
		t.Errorf("a second host ended with status %d:\n%s", status, said)
	}
}

// holds reports whether the host has the experiment's lock.
func (h *host) holds() bool {
	name := filepath.Join(h.x.dir, "LOCK")
	text, _ := os.ReadFile(name)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil || !strings.Contains(string(text), fmt.Sprint(h.pid)) {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// fullDisk fills the disk and frees the space again; sometimes the host is killed
// meanwhile. The host waits and continues by itself (B-087).
func fullDisk(t testing.TB, h *host, rng *rand.Rand) {
	ballast := h.x.fill(t, rng.IntN(3))
	begun := strings.Contains(h.said(), "running")
	if h.await(t, 30*time.Second, func() bool { return strings.Contains(h.said(), "disk is full") }) || !h.ended {
		h.did("disk filled") // and not after its end
	}
	if rng.IntN(4) == 0 {
		killHost(t, h, rng)
	}
	must(t, os.Remove(ballast))
	if !begun { // it could not start
		h.excuse("no space left", "disk is full")
	}
}

// noPermission removes permissions of a part of the experiment's directory,
// and restores them.
func noPermission(t testing.TB, h *host, rng *rand.Rand) {
	path, ok := h.x.anyFolder(rng)
	if !ok {
		return
	}
	folder, err := os.Open(path) // it may get another name meanwhile
	if err != nil {
		return
	}
	defer folder.Close()
	info, err := folder.Stat()
	must(t, err)
	h.x.tampered = true
	must(t, folder.Chmod([]os.FileMode{0, 0o500}[rng.IntN(2)]))
	h.within(100*time.Millisecond + upTo(rng, 500*time.Millisecond))
	must(t, folder.Chmod(info.Mode()))
	h.excuse("permission denied")
	h.did("permission taken")
}

// anyFolder picks one of the experiment's folders; each kind has the same probability.
func (x *experiment) anyFolder(rng *rand.Rand) (string, bool) {
	sorts := []string{"", "journal", "trials", "trials/*", "trials/*/checkpoints", "trials/*/checkpoints/*",
		"checkpoints/blobs", "snapshots"}
	for _, i := range rng.Perm(len(sorts)) {
		if list, _ := filepath.Glob(filepath.Join(x.dir, sorts[i])); len(list) > 0 {
			return list[rng.IntN(len(list))], true
		}
	}
	return "", false
}

// noRecord removes the record while the host runs. The host stops with an error and
// leaves nothing running; when the record is restored, the experiment continues.
func noRecord(t testing.TB, h *host, _ *rand.Rand) {
	from := filepath.Join(h.x.dir, "journal")
	if !h.await(t, time.Second, func() bool { _, err := os.Stat(h.x.dir + "/experiment.yaml"); return err == nil }) {
		return
	}
	if err := os.Rename(from, from+".away"); err != nil {
		return
	}
	h.excuse("was removed or moved away", "record is gone")
	h.ends(t)
	if h.status > 0 {
		for _, left := range h.x.processes() {
			if left.is != reaper {
				t.Errorf("%s %d is still running after the record was gone", left.is, left.pid)
			}
		}
		h.did("record taken away")
	}
	must(t, os.Rename(from+".away", from))
}

// frozenRecord makes the system refuse every write to the record's file, like a disk
// that has become read-only.
func frozenRecord(t testing.TB, h *host, _ *rand.Rand) {
	list, _ := filepath.Glob(filepath.Join(h.x.dir, "journal", "*.tj"))
	if len(list) == 0 || !h.await(t, time.Second, h.holds) {
		return
	}
	f, err := os.Open(list[len(list)-1])
	if err != nil {
		return
	}
	defer f.Close()
	if err := setImmutable(f, true); err != nil {
		h.spared = "this file system cannot freeze a file: " + err.Error()
		return
	}
	h.excuse("operation not permitted")
	h.within(5 * time.Second) // it may be writing to a newer one
	must(t, setImmutable(f, false))
	if h.ended && h.status > 0 {
		h.did("record made unwritable")
	}
}

// immutable is FS_IMMUTABLE_FL of linux/fs.h.
const immutable = 0x10

func setImmutable(f *os.File, on bool) error {
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	flags &^= immutable
	if on {
		flags |= immutable
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}
