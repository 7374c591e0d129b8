package files

import (
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// B-016, B-091
func TestAResultHasTheHostsFields(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.start(0, 1, 0)
	s.result(0, 1, 1, acc(0.25), view.Metric{Name: "eval/loss", Value: 3})
	r := s.result(0, 1, 2, acc(0.5), view.Metric{Name: "eval/loss", Value: 2})
	r.Restored, r.IterationsSinceRestore, r.TimeSinceRestore = true, 1, 0.5
	r.Totals = []view.Metric{{Name: "timesteps_total", Value: 200}}
	write(t, newReporter(s.dir), s.events)
	want(t, read(t, s.dir, 0, "result.jsonl"), `{"iteration":1,"attempt":1,"event_number":2,"done":false,`+
		`"acc":0.25,"eval/loss":3,"trial_id":"id0","time_total_s":1.5,"time_this_iter_s":1.5,`+
		`"timestamp":1767323047.600,"pid":7,"host":"box"}
{"iteration":2,"attempt":1,"event_number":3,"done":false,"acc":0.5,"eval/loss":2,"timesteps_total":200,`+
		`"trial_id":"id0","time_total_s":3,"time_this_iter_s":1.5,"timestamp":1767323048.600,`+
		`"pid":7,"host":"box","iterations_since_restore":1,"time_since_restore":0.5}
`)
	want(t, read(t, s.dir, 0, "progress.csv"), `iteration,attempt,event_number,done,trial_id,time_total_s,`+
		`time_this_iter_s,timestamp,pid,host,iterations_since_restore,time_since_restore,acc,eval/loss,timesteps_total
1,1,2,false,id0,1.5,1.5,1767323047.600,7,box,,,0.25,3,
2,1,3,false,id0,3,1.5,1767323048.600,7,box,1,0.5,0.5,2,200
`)
}

// B-015
func TestWhatIsNoNumber(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.result(0, 1, 1, acc(math.NaN()), view.Metric{Name: "b", Value: math.Inf(1)}, view.Metric{Name: "c",
		Value: math.Inf(-1)})
	write(t, newReporter(s.dir), s.events)
	if text := read(t, s.dir, 0, "result.jsonl"); !strings.Contains(text,
		`"acc":"NaN","b":"Infinity","c":"-Infinity",`) {
		t.Error(text)
	}
	if text := read(t, s.dir, 0, "progress.csv"); !strings.Contains(text, ",NaN,Infinity,-Infinity\n") {
		t.Error(text)
	}
}

// B-016: a value that is not a metric is kept under a unique name.
func TestValuesThatAreNoMetrics(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.result(0, 1, 1, acc(1)).Values = []byte(`{"note":"x \"y\"","ok":true,"tags":[1,"a"],"pid":"mine","acc":"high",` +
		`"none":null}`)
	s.result(0, 1, 2, acc(2)).Values = []byte(`no object`)
	write(t, newReporter(s.dir), s.events)
	lines := strings.Split(read(t, s.dir, 0, "result.jsonl"), "\n")
	const kept = `"acc":1,"note":"x \"y\"","ok":true,"tags":[1,"a"],"value/pid":"mine","value/acc":"high",` +
		`"none":null,"trial_id"`
	if !strings.Contains(lines[0], kept) || !json.Valid([]byte(lines[0])) ||
		!strings.Contains(lines[1], `"acc":2,"trial_id"`) {
		t.Error(lines)
	}
}

// B-016
func TestMetricsNamedLikeTheHostsFields(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	r := s.result(0, 1, 4, view.Metric{Name: "done", Value: 1}, view.Metric{Name: "iteration", Value: 2}, acc(1),
		view.Metric{Name: "steps", Value: 5}, acc(3), view.Metric{Name: "a \"b\",\nc", Value: 6})
	r.Totals = []view.Metric{{Name: "steps", Value: 50}}
	write(t, newReporter(s.dir), s.events)
	line := read(t, s.dir, 0, "result.jsonl")
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"done": false, "iteration": 4.0, "metric/done": 1.0,
		"metric/iteration": 2.0,
		"metric/steps":     5.0, "steps": 50.0, "acc": 3.0, "a \"b\",\nc": 6.0} {
		if fields[name] != value {
			t.Errorf("%s is %v, want %v", name, fields[name], value)
		}
	}
	if n := strings.Count(line, `"acc"`); n != 1 {
		t.Errorf("acc stands there %d times", n)
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, s.dir, 0, "progress.csv"))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if i := len(rows[0]) - 2; rows[0][i] != `a "b", c` || rows[1][i] != "6" {
		t.Error(rows)
	}
}

// B-091
func TestALaterMetricGetsAColumn(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.result(0, 1, 1, acc(1))
	s.result(0, 1, 2, view.Metric{Name: "late, and odd", Value: 2}, acc(3))
	s.result(0, 1, 3, acc(4))
	r := newReporter(s.dir)
	for i := range s.events { // each in its own batch
		if err := r.Report(s.events[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	write(t, r, nil)
	rows, err := csv.NewReader(strings.NewReader(read(t, s.dir, 0, "progress.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join(row[len(hostFields):], "|"))
	}
	want(t, strings.Join(got, "\n"), "acc|late, and odd\n1|\n3|2\n4|")
}

// B-061
func TestARestartReplacesWhatItReportsAgain(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.start(0, 1, 0)
	for i := range 5 {
		s.result(0, 1, uint64(i+1), acc(0.1))
	}
	s.retry(0, 1, "exit status 1")
	s.start(0, 2, 3)
	s.result(0, 2, 4, acc(0.9))
	write(t, newReporter(s.dir), s.events)
	want(t, marks(t, s.dir, JSONL), "1/1 2/1 3/1 4/2")
	want(t, marks(t, s.dir, CSV), "1/1 2/1 3/1 4/2")
}

// B-082: the files of a failed trial stay when it starts again in a new directory.
func TestATrialGoesOnInANewDirectory(t *testing.T) {
	s := &story{dir: newDir(t, 2)}
	s.start(0, 1, 0)
	s.result(0, 1, 1, acc(0.1))
	s.result(0, 1, 2, acc(0.2))
	s.tell(core.SawFailed, 0, 1).Trial.Error = "it broke"
	s.start(0, 2, 0)
	s.result(0, 2, 1, acc(0.3))
	for i := len(s.events) - 2; i < len(s.events); i++ {
		s.events[i].Trial.Dir = trialDir(s.dir, 1)
	}
	write(t, newReporter(s.dir), s.events)
	want(t, marks(t, s.dir, JSONL), "1/1 2/1")
	if text := read(t, s.dir, 1, JSONL.File()); strings.Count(text, "\n") != 1 || !strings.Contains(text, "0.3") {
		t.Errorf("the new directory has %q", text)
	}
}

// marks lists the rows as iteration/attempt.
func marks(t *testing.T, dir string, f Format) string {
	var list []string
	for line := range strings.Lines(read(t, dir, 0, f.File())) {
		if m, ok := readMark([]byte(line), before[f]); ok {
			list = append(list, strings.Join([]string{string('0' + rune(m.iteration)), string('0' + rune(m.attempt))},
				"/"))
		}
	}
	return strings.Join(list, " ")
}

// B-012
func TestTheLastResultIsMarkedDone(t *testing.T) {
	s := &story{dir: newDir(t, 2)}
	s.result(0, 1, 1, acc(1))
	s.result(0, 1, 2, acc(2))
	s.tell(core.SawCompleted, 0, 1)
	s.result(1, 1, 1, acc(1))
	s.tell(core.SawFailed, 1, 1).Trial.Error = "it broke"
	write(t, newReporter(s.dir), s.events)
	for trial, want := range []string{"false true ", "false "} {
		for _, f := range []Format{JSONL, CSV} {
			done := ""
			for line := range strings.Lines(read(t, s.dir, core.TrialNo(trial), f.File())) {
				if m, ok := readMark([]byte(line), before[f]); ok {
					done += map[bool]string{true: "true ", false: "false "}[m.done]
				}
			}
			if done != want {
				t.Errorf("trial %d, %s: done is %s, want %s", trial, f.File(), done, want)
			}
		}
	}
	for line := range strings.Lines(read(t, s.dir, 0, "result.jsonl")) {
		if !json.Valid([]byte(line)) {
			t.Error(line)
		}
	}
}

// B-070, B-071, B-091
func TestErrorTxtStaysOnRetry(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.retry(0, 1, "exit status 3\n\nTraceback:\n  boom")
	s.tell(core.SawRequeued, 0, 2).Reason = "interrupted"
	s.tell(core.SawFailed, 0, 3).Trial.Error = "killed by SIGKILL"
	for range 2 { // the second time nothing is new
		write(t, newReporter(s.dir), s.events)
	}
	want(t, read(t, s.dir, 0, "error.txt"), `attempt 1 (event 1) failed at 2026-01-02T03:04:06Z
  exit status 3
  
  Traceback:
    boom

attempt 3 (event 3) failed at 2026-01-02T03:04:08Z
  killed by SIGKILL

`)
}

// B-092
func TestFilesAreForTheOwnerAlone(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.result(0, 1, 1, acc(1))
	s.result(0, 1, 2, acc(1), view.Metric{Name: "late"})
	s.tell(core.SawFailed, 0, 1).Trial.Error = "x"
	write(t, newReporter(s.dir), s.events)
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && !d.IsDir() && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// B-127
func TestRemovedDirectoryOfOneTrial(t *testing.T) {
	s := &story{dir: newDir(t, 1)} // trial 1 has none
	s.result(1, 1, 1, acc(1))
	s.result(0, 1, 1, acc(1))
	s.result(1, 1, 2, acc(1), view.Metric{Name: "late"})
	s.tell(core.SawCompleted, 1, 1)
	s.result(2, 1, 1, acc(1))
	s.start(2, 2, 0)
	s.tell(core.SawFailed, 2, 2).Trial.Error = "x"
	write(t, newReporter(s.dir), s.events)
	want(t, marks(t, s.dir, JSONL), "1/1")
}

// If a user removes files while the trial runs, they start again, without the row at which that was
// noticed.
func TestRemovedFilesStartAgain(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	for i := range 4 {
		s.result(0, 1, uint64(i+1), acc(1))
	}
	r := newReporter(s.dir)
	r.open.max = 0 // no file stays open
	for i := range s.events {
		if err := r.Report(s.events[i : i+1]); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			for _, f := range []Format{JSONL, CSV} {
				if err := os.Remove(filepath.Join(trialDir(s.dir, 0), f.File())); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	write(t, r, nil)
	want(t, marks(t, s.dir, JSONL), "3/1 4/1")
	want(t, marks(t, s.dir, CSV), "3/1 4/1")
	if text := read(t, s.dir, 0, "progress.csv"); !strings.HasPrefix(text, "iteration,") {
		t.Error(text)
	}
}

func TestAFileThatIsNotOursIsPutAside(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	path := filepath.Join(trialDir(s.dir, 0), "progress.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.result(0, 1, 1, acc(1))
	write(t, newReporter(s.dir), s.events)
	want(t, marks(t, s.dir, CSV), "1/1")
	want(t, read(t, s.dir, 0, "progress.csv.old"), "a,b\n1,2\n")
}

// TestHeaderIsNoFormula: the name of a metric is no formula in the heading of progress.csv, which is read back as it
// was written.
func TestHeaderIsNoFormula(t *testing.T) {
	names, ok := readHeader(appendHeader(nil, []string{`=HYPERLINK("x")`, "loss"}))
	if want := []string{`'=HYPERLINK("x")`, "loss"}; !ok || !slices.Equal(names, want) ||
		columnName(`=HYPERLINK("x")`) != want[0] {
		t.Errorf("%q, %v", names, ok)
	}
}
