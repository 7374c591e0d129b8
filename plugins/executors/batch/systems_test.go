package batch

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// commands are those of each system.
var commands = map[system][]string{
	"pbs": {"qsub", "qstat", "qdel", "qselect"}, "lsf": {"bsub", "bjobs", "bkill"}, "sge": {"qsub", "qstat", "qdel"},
	"condor": {"condor_submit", "condor_q", "condor_rm"}, "flux": {"flux"},
}

// standIn has a batch system whose commands print what the real ones print.
type standIn struct {
	t   *testing.T
	dir string
}

func newStandIn(t *testing.T, name system) *standIn {
	t.Helper()
	s := &standIn{t, t.TempDir()}
	program, err := filepath.Abs("testdata/systems.sh")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.Mkdir(filepath.Join(s.dir, "jobs"), 0o700),
		os.WriteFile(filepath.Join(s.dir, "system"), []byte(name), 0o600))
	for _, c := range append(commands[name], "run") {
		err = errors.Join(err, os.Symlink(program, filepath.Join(s.dir, c)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() {
		for _, job := range s.jobs() {
			pid, _ := os.ReadFile(filepath.Join(s.dir, "jobs", job, "pid"))
			_ = exec.Command("kill", "-s", "KILL", "--", "-"+strings.TrimSpace(string(pid))).Run()
		}
	})
	return s
}

func (s *standIn) path(name string) string { return filepath.Join(s.dir, name) }

func (s *standIn) touch(name string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// jobs are the numbers of all jobs, and left of those that are not over.
func (s *standIn) jobs() (list []string) {
	entries, _ := os.ReadDir(s.path("jobs"))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func (s *standIn) left() (n int) {
	for _, job := range s.jobs() {
		text, _ := os.ReadFile(filepath.Join(s.dir, "jobs", job, "state"))
		if strings.TrimSpace(string(text)) != "over" {
			n++
		}
	}
	return n
}

// end ends a job as the batch system does.
func (s *standIn) end(job string) {
	s.t.Helper()
	pid, err := os.ReadFile(filepath.Join(s.dir, "jobs", job, "pid"))
	if err == nil {
		err = exec.Command("kill", "-s", "KILL", "--", "-"+strings.TrimSpace(string(pid))).Run()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "jobs", job, "state"), []byte("over\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *standIn) desk(name system) *desk {
	s.t.Helper()
	options, err := json.Marshal(map[string]any{"system": name, "poll": 0.05, "time": "1h"})
	if err != nil {
		s.t.Fatal(err)
	}
	d := openDesk(s.t, sdk.Execution{Dir: s.t.TempDir(), Prefix: "a-"}, options)
	d.must(d.Adopt(s.t.Context(), nil))
	return d
}

// The commands of each system, as they are: a job waits, runs, and is cancelled; one ends by itself; of one the answer
// of submit is lost; one can never run.
func TestSystems(t *testing.T) {
	host, _ := os.Hostname()
	all := []sdk.Amount{{Name: "cpu", Value: 2}, {Name: "gpu", Value: 1}, {Name: "memory", Value: 1 << 30}}
	for name := range commands {
		t.Run(string(name), func(t *testing.T) {
			s := newStandIn(t, name)
			d, amounts := s.desk(name), all
			if name == "flux" { // it has no memory
				amounts = all[:2]
			}
			s.touch("hold")
			d.must(d.ask(of("a-1", amounts...)))
			if e := d.hears("a-1", sdk.LeasePending); !strings.Contains(e.Why, "waits") {
				e = d.hears("a-1", sdk.LeasePending) // the first was before the first answer of the system
				if !strings.Contains(e.Why, "waits") {
					t.Errorf("%+v", e)
				}
			}
			d.must(os.Remove(s.path("hold")))
			if e := d.hears("a-1", sdk.LeaseGranted); len(e.Bundles) != 1 || e.Bundles[0].Node != host {
				t.Errorf("%+v", e)
			}
			if own, id := d.begunID("a-1"), d.idOf("a-1"); name != "condor" && own != id { // it tells jobs no id
				t.Errorf("the job says that it is %q; its id is %q", own, id)
			}
			for range 2 { // the second time it has ended
				d.must(d.cancelJob(t.Context(), d.idOf("a-1")))
			}
			d.must(d.Release(t.Context(), []string{"a-1"}))
			if n := s.left(); n != 0 {
				t.Errorf("%d jobs are left", n)
			}

			d.must(d.ask(of("a-2", amounts...)))
			d.hears("a-2", sdk.LeaseGranted)
			s.end("2")
			d.hears("a-2", sdk.LeaseLost)

			s.touch("lost")
			if err := d.ask(of("a-3", amounts...)); err == nil {
				t.Error("the answer was not lost")
			}
			d.must(d.ask(of("a-3", amounts...))) // as the host does
			d.hears("a-3", sdk.LeaseGranted)
			if n := len(s.jobs()); n != 3 {
				t.Errorf("%d jobs were made, want 3", n)
			}
			d.must(d.Release(t.Context(), []string{"a-3"}))

			d.must(d.ask(of("a-4", sdk.Amount{Name: "cpu", Value: 9999})))
			d.hears("a-4", sdk.LeaseRefused)
			if n := s.left(); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}
