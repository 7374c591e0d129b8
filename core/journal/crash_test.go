package journal_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// A history is what the test's host knows: everything it tried to append, and how much of it was
// acknowledged.
type history struct {
	epoch int
	tried [][]byte
	acked int
}

func (h *history) append(j *journal.Journal, n int) error {
	records := batch(h.epoch, len(h.tried)+1, n)
	h.tried = append(h.tried, records...)
	_, err := j.Append(records)
	return err
}

func (h *history) sync(j *journal.Journal) error {
	if err := j.Sync(); err != nil {
		return err
	}
	h.acked = len(h.tried)
	return nil
}

// Rotation may sync without a request; Durable counts as acknowledged too.
func (h *history) note(j *journal.Journal) { h.acked = max(h.acked, int(j.Durable())-1) }

// life is one process: it opens or creates, appends, syncs sometimes, and closes.
func (h *history) life(fs *journaltest.FS) error {
	h.epoch++
	j, err := h.open(fs)
	if err != nil {
		return err
	}
	for i := range 5 {
		if err := h.append(j, 1+(h.epoch+3*i)%7); err != nil {
			h.note(j)
			return err
		}
		if i == 1 || i == 3 {
			if err := h.sync(j); err != nil {
				return err
			}
		}
		h.note(j)
	}
	if err := j.Close(); err != nil {
		return err
	}
	h.acked = len(h.tried)
	return nil
}

// open recovers the journal and compares it with the tried and acknowledged events.
func (h *history) open(fs *journaltest.FS) (*journal.Journal, error) {
	var all [][]byte
	j, opened, err := journal.Open(fs, testOpts, collect(&all))
	if err != nil && h.acked == 0 && errors.Is(err, journal.ErrNoJournal) {
		h.tried = nil
		return journal.Create(fs, testOpts)
	}
	if err != nil {
		return nil, err
	}
	if err := h.check(all, opened); err != nil {
		return nil, err
	}
	h.tried, h.acked = all, len(all)
	return j, nil
}

// wrong marks an error of the journal, as opposed to an expected error of the file system.
type wrong struct{ error }

func (h *history) check(all [][]byte, opened journal.Opened) error {
	if len(all) < h.acked {
		return wrong{fmt.Errorf("%d events are there, %d were acknowledged", len(all), h.acked)}
	}
	if len(all) > len(h.tried) {
		return wrong{fmt.Errorf("%d events are there, only %d were appended", len(all), len(h.tried))}
	}
	for i := range all {
		if !bytes.Equal(all[i], h.tried[i]) {
			return wrong{fmt.Errorf("event %d is %q, not %q", i+1, all[i], h.tried[i])}
		}
	}
	if opened.Next != uint64(len(all)+1) {
		return wrong{fmt.Errorf("next is %d after %d events", opened.Next, len(all))}
	}
	return nil
}

func (h *history) clone() *history {
	c := *h
	c.tried = append([][]byte(nil), h.tried...)
	return &c
}

// threeLives is the workload that the process dies in.
func threeLives(fs *journaltest.FS, h *history) error {
	for range 3 {
		if err := h.life(fs); err != nil {
			return err
		}
	}
	return nil
}

// B-080: the process dies at each operation, by kill -9 or power loss, and dies again at each
// operation of the recovery. Afterwards the acknowledged events are there, in order and unchanged,
// and nothing else; recovering twice is the same as recovering once.
func TestDeathAtEveryOperationAndAgainInRecovery(t *testing.T) {
	fs := journaltest.New(1)
	must(t, threeLives(fs, &history{}))
	ops, deaths := fs.Ops(), 0
	for op := 1; op <= ops; op++ {
		for _, death := range []journaltest.Death{journaltest.Kill, journaltest.Power} {
			for _, phase := range phases {
				fs, h := journaltest.New(uint64(op)), &history{}
				fs.DieAt(op, death, phase)
				if err := threeLives(fs, h); !fs.Dead() || isWrong(err) {
					t.Fatalf("op %d death %d phase %d: %v", op, death, phase, err)
				}
				deaths += dieAgain(t, fmt.Sprintf("op %d death %d phase %d", op, death, phase), fs, h)
			}
		}
	}
	t.Logf("%d operations, %d deaths in recovery", ops, deaths)
}

var phases = []journaltest.Phase{journaltest.Before, journaltest.Middle, journaltest.After}

// dieAgain recovers from the first death with a second death at each operation, and returns their
// number.
func dieAgain(t *testing.T, where string, dead *journaltest.FS, h *history) int {
	t.Helper()
	whole := dead.Restart(0)
	settle(t, where, whole, h.clone())
	rounds := recoveryOps(dead, h)
	for op := 1; op <= rounds; op++ {
		fs, again := dead.Restart(uint64(op)), h.clone()
		death, phase := journaltest.Death(dead.Ops()+op)%2, phases[(dead.Ops()/2+op)%3]
		fs.DieAt(op, death, phase)
		if _, err := again.open(fs); isWrong(err) {
			t.Fatalf("%s: recovery: %v", where, err)
		}
		fs.Die(death)
		settle(t, fmt.Sprintf("%s, then op %d death %d phase %d", where, op, death, phase), fs.Restart(uint64(op)),
			again)
	}
	return rounds
}

func recoveryOps(dead *journaltest.FS, h *history) int {
	fs := dead.Restart(0)
	_, _ = h.clone().open(fs)
	return fs.Ops()
}

// settle recovers without faults, twice, continues the work, and checks everything again.
func settle(t *testing.T, where string, fs *journaltest.FS, h *history) {
	t.Helper()
	h.epoch += 100
	if _, err := h.open(fs); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	once := snapshot(fs)
	if _, err := h.open(fs); err != nil || snapshot(fs) != once {
		t.Fatalf("%s: recovering twice differs: %v", where, err)
	}
	if err := h.life(fs); err != nil {
		t.Fatalf("%s: next life: %v", where, err)
	}
	all, opened, err := verify(fs)
	if err != nil || !opened.Clean {
		t.Fatalf("%s: at the end: %+v, %v", where, opened, err)
	}
	if err := h.check(all, opened); err != nil || strings.Contains(strings.Join(fs.Names(), " "), "-tmp") {
		t.Fatalf("%s: at the end: %v, files %v", where, err, fs.Names())
	}
}

func isWrong(err error) bool {
	_, ok := err.(wrong)
	return ok || errors.Is(err, journal.ErrCorrupt)
}

var lives = flag.Uint64("lives", 1000, "seeds that TestRandomLives tries")

// Many lives in a row, each ended at a random operation or hit by a random failure.
func TestRandomLives(t *testing.T) {
	for seed := range *lives {
		fs, h := journaltest.New(seed), &history{}
		for life := range uint64(12) {
			hit(fs, seed*31+life*7)
			err := h.life(fs)
			if isWrong(err) {
				t.Fatalf("seed %d life %d: %v", seed, life, err)
			}
			fs.Die(journaltest.Death((seed + life) % 2))
			fs = fs.Restart(seed + life)
		}
		settle(t, fmt.Sprintf("seed %d", seed), fs, h)
	}
}

// hit plans one death or failure, chosen by n.
func hit(fs *journaltest.FS, n uint64) {
	op := 1 + int(n*2654435761>>8%40)
	switch n % 4 {
	case 0:
		fs.DieAt(op, journaltest.Death(n/4%2), phases[n/8%3])
	case 1:
		fs.FailAt(op, journaltest.IO)
	case 2:
		fs.FailAt(op, journaltest.NoSpace)
	case 3:
		fs.FailAt(op, journaltest.Short)
	}
}
