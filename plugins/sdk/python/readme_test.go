package python_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// section returns the text of README.md below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(readme), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README.md has no %q", heading)
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// file matches a file that the reader creates: its name in backquotes, a colon, and its content.
var file = regexp.MustCompile("(?s)`([\\w.]+)`:\n\n```\\w+\n(.*?)```")

// folder writes the files that a section tells the reader to create.
func folder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, m := range file.FindAllStringSubmatch(text, -1) {
		if err := os.WriteFile(filepath.Join(dir, m[1]), []byte(m[2]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// installed returns a folder into which pip has installed a copy of the package, because pip builds
// in the source folder.
func installed(t *testing.T) string {
	t.Helper()
	src, target := t.TempDir(), t.TempDir()
	for _, name := range []string{"pyproject.toml", "README.md", "tunehost"} {
		if out, err := exec.Command("cp", "-r", name, src).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	cmd := exec.Command(python(t), "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
		"--disable-pip-version-check", "--no-compile", "--target", target, src)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(target, "tunehost", "py.typed")); err != nil {
		t.Error(err)
	}
	return target
}

// program starts an executable script of a folder as a host does, with the interpreter of these
// tests first in the PATH.
func program(t *testing.T, kind sdk.Kind, dir, script, packages string) process.Config {
	t.Helper()
	if err := os.Chmod(filepath.Join(dir, script), 0o700); err != nil {
		t.Fatal(err)
	}
	return process.Config{
		Program: process.Program{
			Kind: kind, Name: strings.TrimSuffix(script, ".py"), Path: "./" + script, Dir: dir,
			Env: []string{"PATH=" + filepath.Dir(python(t)) + ":" + os.Getenv("PATH"), "PYTHONPATH=" + packages},
		},
		Log: func(l process.Line) { t.Log(l.Text) },
	}
}

func TestReadmeSearcher(t *testing.T) {
	dir := folder(t, section(t, "Write a searcher in Python"))
	p := start(t, program(t, sdk.KindSearcher, dir, "nearby.py", installed(t)))
	info, err := p.Describe(t.Context())
	if err != nil || info.Name != "nearby" || info.Summary != "Tries points near the best one so far." {
		t.Errorf("%+v, %v", info, err)
	}
	if err := conformance.CheckInfo(info, sdk.KindSearcher); err != nil {
		t.Error(err)
	}
	s := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 0, High: 10}}}
	searcher := openSearcher(t, p, s, `{"step": 0.05}`, nil)
	best := 100.0
	for i := range 60 {
		answer, err := searcher.Suggest(t.Context(), []sdk.Request{{Trial: uint32(i), Seed: uint64(i)}})
		if err != nil {
			t.Fatal(err)
		}
		x := answer.Points[0][0]
		if err := s.Check(answer.Points[0]); err != nil {
			t.Fatal(err)
		}
		best = min(best, (x-3)*(x-3))
		if err := searcher.Observe(t.Context(), told(i+1, i, answer.Points[0], (x-3)*(x-3))); err != nil {
			t.Fatal(err)
		}
	}
	if best > 0.01 {
		t.Errorf("the best loss is %v", best)
	}
}

// The code fragments of the README work as well.
func TestReadmeFragments(t *testing.T) {
	for _, p := range shown {
		if p.name != "Nearby" {
			fragment(t, p.kind, config(t, p.kind, page(t, p.heading, p.name)))
		}
	}
}

func fragment(t *testing.T, kind sdk.Kind, c process.Config) {
	t.Helper()
	switch kind {
	case sdk.KindSearcher:
		answer, err := openSearcher(t, start(t, c), two(), "", nil).Suggest(t.Context(), make([]sdk.Request, 1))
		if err != nil || two().Check(answer.Points[0]) != nil {
			t.Error(answer, err)
		}
	case sdk.KindScheduler:
		s := openScheduler(t, start(t, c), two(), `{"at": 1, "loss": 0.2}`)
		d, err := s.Decide(t.Context(), events(1, 1))
		if err != nil || d.Decisions[0].Reason != "its loss is 0.5 at iteration 1" {
			t.Error(d, err)
		}
	case sdk.KindTrainable:
		d := newDriver(t, c, "")
		d.start(1, `{"lr": 0.5}`, sdk.Trial{Seed: 2})
		for i := range 3 {
			e := d.want(train.Result, "")
			if i < 2 {
				d.continues(1)
			} else if l := metric(e, "loss"); !(l > 0) {
				t.Error(l)
			}
		}
		dir := t.TempDir()
		d.send(train.Command{Kind: train.Stop, Run: 1, Dir: dir})
		d.want(train.Saved, "iteration 3")
		d.want(train.Ended, "")
		if _, err := os.Stat(filepath.Join(dir, "w.npy")); err != nil {
			t.Error(err)
		}
	}
}

// commands runs the command and scripts in a folder, as a user does.
type commands struct {
	t         *testing.T
	dir, path string
}

func newCommands(t *testing.T, dir string) *commands {
	t.Helper()
	program, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	return &commands{t: t, dir: dir, path: filepath.Dir(program)}
}

func (c *commands) command(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	root, err := os.Getwd()
	if err != nil {
		c.t.Fatal(err)
	}
	if name == "tunehost" {
		name = filepath.Join(c.path, name)
	}
	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(python(c.t))+":"+os.Getenv("PATH"), "PYTHONPATH="+root)
	return cmd
}

func (c *commands) run(name string, args ...string) string {
	c.t.Helper()
	cmd := c.command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, stderr.String())
	}
	return string(out)
}

// Tests the README section about scripts, with the command itself.
func TestReadmeScript(t *testing.T) {
	c := newCommands(t, folder(t, section(t, "A script that reports")))
	c.run("tunehost", "run", "experiment.yaml", "--set", "seed=1") // another seed may find nothing so good
	var best struct{ Value float64 }
	text := c.run("tunehost", "best", "results/experiment", "--json")
	if err := json.Unmarshal([]byte(text), &best); err != nil || !(best.Value < 0.1) {
		t.Errorf("best %v, %v", best, err)
	}
	alone := strings.Split(strings.TrimSpace(c.run(python(t), "train.py")), "\n")
	if want := fmt.Sprintf(`"iteration": %d`, len(alone)); len(alone) != 9 || !strings.Contains(alone[8], want) {
		t.Error(alone)
	}
}

// The last report ends the script, and the model is still saved.
func TestReadmeLastReport(t *testing.T) {
	c := newCommands(t, folder(t, section(t, "The last report ends the script")))
	c.run("tunehost", "run", "experiment.yaml")
	saved, err := filepath.Glob(filepath.Join(c.dir, "results/experiment/trials/*/model.json"))
	if err != nil || len(saved) != 2 {
		t.Errorf("%v, %v", saved, err)
	}
	alone := c.run(python(t), "train.py")
	if strings.Count(alone, "loss") != 5 {
		t.Error(alone)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "model.json")); err != nil {
		t.Error(err)
	}
}

// stopped is an experiment of one trial that is stopped during a long epoch.
var stopped = map[string]string{
	"train.py": `import tunehost
tunehost.report(loss=1)
try:
    open("begun", "x").close()
    while True:
        pass
finally:
    open("clean", "x").close()
`,
	"experiment.yaml": `version: 1
objective: {metric: loss, mode: min}
trainable: {command: [python3, ../../../../train.py]}
space: {x: {uniform: [0, 1]}}
trials: 1
`,
}

// B-150: a trial that the host stops during a long epoch cleans up and does not fail.
func TestStoppedScript(t *testing.T) {
	dir := t.TempDir()
	for name, text := range stopped {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newCommands(t, dir)
	host := c.command("tunehost", "run", "experiment.yaml")
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	made := func(name string) bool {
		found, err := filepath.Glob(filepath.Join(dir, "results/experiment/trials/*", name))
		return err == nil && len(found) == 1
	}
	eventually(t, "the epoch", func() bool { return made("begun") })
	c.run("tunehost", "stop", "results/experiment", "0")
	if err := host.Wait(); err != nil {
		t.Fatal(err)
	}
	trials := c.run("tunehost", "trials", "results/experiment", "--json")
	if !made("clean") || !strings.Contains(trials, `"failures":0,"attempts":1,`) {
		t.Errorf("clean is %t; %s", made("clean"), trials)
	}
}

// wrong matches installing the other project, which has our name on PyPI.
var wrong = regexp.MustCompile(`pip3? install (-\S+ +)*["']?tunehost(["'\s;,.=<>~\[` + "`" + `]|$)`)

// No document tells users to install the other project of our name on PyPI.
func TestInstallCommands(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--full-name", ":/").Output()
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil || strings.HasSuffix(name, "readme_test.go") {
			continue
		}
		said += strings.Count(string(text), "pip install tunehost-hpo")
		if at := wrong.FindString(string(text)); at != "" {
			t.Errorf("%s: %q installs another project; ours is tunehost-hpo", name, at)
		}
	}
	if said < 3 {
		t.Errorf("tunehost-hpo is installed in %d places", said)
	}
	for _, command := range []string{"pip install tunehost", "pip install -U tunehost==1.0", "`pip install tunehost`"} {
		if !wrong.MatchString(command) {
			t.Errorf("%q passes", command)
		}
	}
}
