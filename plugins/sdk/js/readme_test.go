package js_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// A block is a fenced part of README.md, with its language.
type block struct{ heading, language, text string }

func blocks(t *testing.T) (list []block) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n## ") {
		heading, _, _ := strings.Cut(part, "\n")
		for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(part, -1) {
			list = append(list, block{heading, m[1], m[2]})
		}
	}
	return list
}

// TestReadme follows "Write a searcher in JavaScript" literally, from an empty folder.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	t.Parallel()
	toolchain.Need(t, toolchain.JavaScript)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, b := range blocks(t) {
		switch {
		case b.heading != "Write a searcher in JavaScript":
		case b.language == "js":
			write(t, filepath.Join(dir, "nearby.js"), b.text)
		case b.language == "sh":
			cmd := exec.Command("bash", "-euc", b.text)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "TUNEHOST="+root, "npm_config_prefer_offline=true",
				"npm_config_audit=false")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", b.text, err, out)
			}
		}
	}
	c := program(t, sdk.KindSearcher, filepath.Join(dir, "nearby.js"))
	c.Path, c.Args = c.Args[0], nil
	s, err := start(t, c).OpenSearcher(t.Context(), problem(wide()), []byte(`{"start": 2}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	points := suggest(t, s, requests(0, 2)).Points
	if err := s.Observe(t.Context(), told(points, func(p space.Point) float64 { return p[0] })); err != nil {
		t.Fatal(err)
	}
	for _, p := range suggest(t, s, requests(2, 5)).Points {
		if err := wide().Check(p); err != nil {
			t.Error(err)
		}
	}
}

// TestReadmeSnippets runs the shorter examples.
func TestReadmeSnippets(t *testing.T) {
	t.Parallel()
	for _, b := range blocks(t) {
		switch b.heading {
		case "Schedulers":
			start(t, program(t, sdk.KindScheduler, script(t, b.text)))
		case "Trainables":
			d := openTrainable(t, script(t, b.text), `{}`)
			d.start(1, sdk.Trial{Params: []byte(`{"lr": 0.25}`), RunAhead: 99})
			last := train.Event{}
			for e := d.next(); e.Kind != train.Ended; e = d.next() {
				last = e
			}
			if last.Iteration != 10 || last.Metrics[0].Value > 1e-5 {
				t.Errorf("%+v", last)
			}
		case "Report from a plain script":
			out, err := exec.Command(node(t), script(t, b.text)).Output()
			if lines := strings.Fields(string(out)); err != nil || len(lines) != 10 {
				t.Errorf("%q, %v", lines, err)
			}
		}
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
