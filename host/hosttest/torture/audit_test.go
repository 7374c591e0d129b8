package torture

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

// audit checks a finished experiment: nothing is lost, duplicated,
// incomplete or left behind, and the record agrees with the logs of the trainables.
func (x *experiment) audit(t testing.TB) {
	t.Helper()
	hosttest.CheckNoOrphans(t, x.root)
	hosttest.CheckFinished(t, x.dir, x.trials)
	if status, said := x.does(t, "replay", x.dir); status != 0 {
		t.Errorf("replay ended with status %d: %s", status, said)
	}
	e, err := view.Open(x.dir)
	must(t, err)
	defer e.Close()
	raw := x.recorded(t)
	x.checkEnds(t, e)
	x.checkCheckpoints(t, e)
	x.checkPrivate(t)
	if x.logs {
		for no := range core.TrialNo(e.Now().Machine.Trials()) {
			x.compare(t, e, no, raw[no])
		}
	}
}

// recorded returns every result in the record, also those of repeated attempts.
// The record must be intact.
func (x *experiment) recorded(t testing.TB) map[core.TrialNo][]*core.ResultReported {
	t.Helper()
	dir, err := journal.OpenDir(filepath.Join(x.dir, "journal"))
	must(t, err)
	defer dir.Close()
	list := map[core.TrialNo][]*core.ResultReported{}
	opened, err := journal.Verify(dir, journal.Options{}, func(_ uint64, records [][]byte) error {
		for _, b := range records {
			_, e, err := record.Parse(b)
			if err != nil {
				return err
			}
			if r, ok := e.(*core.ResultReported); ok {
				list[r.Trial] = append(list[r.Trial], r)
			}
		}
		return nil
	})
	if err != nil || opened.Cut != nil {
		t.Errorf("the record: %v, %v", err, opened.Cut)
	}
	return list
}

// checkEnds checks that every trial has ended without an error; if permissions were removed, some may
// have failed because of that.
func (x *experiment) checkEnds(t testing.TB, e *view.Recorded) {
	t.Helper()
	m := e.Now().Machine
	for no := range core.TrialNo(m.Trials()) {
		if v := m.View(no); v.State != core.Terminated {
			t.Errorf("trial %d is %v: %s", no, v.State, v.Reason())
		}
	}
}

// checkCheckpoints checks that each recorded checkpoint is intact, and that no other files exist.
func (x *experiment) checkCheckpoints(t testing.TB, e *view.Recorded) {
	t.Helper()
	needed := map[string]bool{}
	e.Now().Machine.EachCheckpoint(func(c core.CheckpointRef) {
		if c.Trial != core.NoTrial {
			needed[storage.CheckpointDir(e.Now().TrialDir(c.Trial), c.ID)] = true
		}
	})
	for dir := range needed {
		if _, err := storage.CheckCheckpoint(dir, true); err != nil {
			t.Errorf("checkpoint %s: %v", dir, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(x.dir, "trials", "*", "checkpoints", "*"))
	must(t, err)
	for _, dir := range there {
		switch name := filepath.Base(dir); {
		case needed[dir], name == "own":
		case name == "restored":
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("copies of checkpoints are left in %s: %v, %v", dir, list, err)
			}
		default:
			t.Errorf("%s is left, which the record does not name", dir)
		}
	}
}

// half matches names of incomplete checkpoints.
var half = regexp.MustCompile(`\.(tmp|old)$`)

// checkPrivate checks that other users cannot read the files of the experiment, and that no secret of
// the host's environment is in them (B-092).
func (x *experiment) checkPrivate(t testing.TB) {
	t.Helper()
	must(t, filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		// The program chooses the mode of its files; their folder is
		// private.
		if info.Mode().Perm()&0o077 != 0 && !strings.Contains(path, "checkpoints"+string(filepath.Separator)) {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has a secret", path)
		}
		if half.MatchString(path) {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}

// account is the content of the log of a trial's programs.
type account struct {
	begun    map[uint64]uint64 // nonce to attempt, 0 if unknown
	reported map[string]bool   // NONCE ITERATION
	answered []string
	broken   []string
	strays   []string // attempts that continued from a state that was never saved
	last     string   // the nonce of the last attempt, if it has reported and finished
	text     string
}

// account reads a trial's own log.
func (x *experiment) account(t testing.TB, id string) *account {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.root, "logs", id))
	must(t, err)
	a := &account{begun: map[uint64]uint64{}, reported: map[string]bool{}, text: string(text)}
	saved, spoke := map[string]bool{"0": true}, false
	for line := range strings.Lines(a.text) {
		f := strings.Fields(line)
		switch f[0] {
		case "begin":
			a.begun[parse(f[1])], a.last, spoke = parse(f[2]), "", false
			if !saved[f[3]] {
				a.strays = append(a.strays, line)
			}
		case "saved":
			saved[f[2]] = true
		case "report":
			a.reported[f[1]+" "+f[2]], spoke = true, true
		case "answered":
			a.answered = append(a.answered, f[1]+" "+f[2])
		case "broken":
			a.broken = append(a.broken, line)
		case "end":
			if spoke { // otherwise it may have been started at the end
				a.last = f[1]
			}
		}
	}
	return a
}

func parse(text string) (n uint64) {
	_, _ = fmt.Sscan(text, &n)
	return n
}

// compare compares a trial's record with its own log: each recorded result was
// reported by that attempt and is recorded once; each answered result is recorded;
// attempts continued from complete checkpoints.
func (x *experiment) compare(t testing.TB, e *view.Recorded, no core.TrialNo, raw []*core.ResultReported) {
	t.Helper()
	a := x.account(t, e.Now().Trial(no).ID)
	seen := map[string]bool{}
	last := ""
	for _, r := range raw {
		nonce := nonceOf(e.Now().Machine, r)
		said := fmt.Sprintf("%d %d", nonce, r.Iteration)
		last = fmt.Sprint(nonce)
		attempt, begun := a.begun[nonce]
		switch {
		case !begun || !a.reported[said]:
			t.Errorf("trial %d: the record has result %s, which nobody reported", no, said)
		case attempt != 0 && attempt != uint64(r.Attempt):
			t.Errorf("trial %d: result %s is recorded of attempt %d, and was of %d", no, said, r.Attempt, attempt)
		case seen[said]:
			t.Errorf("trial %d: result %s is recorded twice", no, said)
		}
		seen[said] = true
	}
	for _, said := range a.answered {
		if !seen[said] {
			t.Errorf("trial %d: result %s was answered, and is not recorded", no, said)
		}
	}
	if len(a.broken)+len(a.strays) > 0 {
		t.Errorf("trial %d: attempts continued from half of a checkpoint (%q), or from what was not saved (%q)", no,
			a.broken, a.strays)
	}
	if a.last != "" && a.last != last {
		t.Errorf("trial %d: attempt %s came to its end, and the last result is of %s", no, a.last, last)
	}
	if t.Failed() {
		t.Logf("trial %d's own log:\n%s", no, a.text)
	}
}

func nonceOf(m *core.Machine, r *core.ResultReported) uint64 {
	for _, x := range r.Metrics {
		if m.MetricName(x.ID) == "nonce" {
			return uint64(x.Value)
		}
	}
	return 0
}
