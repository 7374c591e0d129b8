package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plot"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

var (
	rewrite = flag.Bool("rewrite", false, "write testdata/*.txt: read the diff")
	look    = flag.String("look", "", "write all plots of the tests to this folder, to look at")
)

// rich has a logarithmic, a whole, a categorical and a conditional parameter, hostile names, and a trial that fails.
const rich = `version: 1
objective: {metric: accuracy, mode: max}
space:
  lr: {loguniform: [1e-5, 1.0]}
  layers: {int: [1, 8]}
  dropout: {uniform: [0, 0.5]}
  optimizer: {choice: [sgd, "<script>alert(1)</script>", "two\nlines"]}
  momentum: {uniform: [0, 1], when: optimizer == "sgd"}
trials: 40
`

const two = `version: 1
objectives: [{metric: accuracy, mode: max}, {metric: cost, mode: min}]
space: {lr: {uniform: [0, 1]}}
trials: 30
`

const family = `version: 1
objective: {metric: loss, mode: min}
space: {lr: {loguniform: [1e-4, 1.0]}}
trials: 5
checkpoint: {every: 1}
`

func wrote(t *testing.T, name, source string, f func(*viewtest.Writer)) *view.Recorded {
	t.Helper()
	w := viewtest.New(filepath.Join(t.TempDir(), name), []byte(source), 7)
	f(w)
	e, err := view.Open(w.Dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func richly(w *viewtest.Writer) {
	w.Fails = map[core.TrialNo]string{2: "exit status 3", 17: "exit status 3"}
	w.Iterations = 12
	w.Metrics = func(no core.TrialNo, i uint64) []float64 {
		end := 0.3 + 0.6*float64(no*37%40)/40
		v := end * (1 - math.Exp(-float64(i)/4))
		return []float64{v, math.Exp(12 * (1 - v))}
	}
	w.Start(4)
	w.Run(-1)
	w.Close()
}

func twofold(w *viewtest.Writer) {
	w.Names = []string{"accuracy", "cost"}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 {
		x := float64(no*17%30) / 30
		return []float64{1 - x*x*0.8 - float64(no%5)*0.05, 20 * (1.1 - x) * (1 + float64(no%4)*0.3)}
	}
	w.Fails = map[core.TrialNo]string{3: "exit status 3"}
	w.Start(4)
	w.Run(-1)
	w.Close()
}

func familiar(w *viewtest.Writer) {
	w.Names, w.Iterations = []string{"accuracy", "loss"}, 9
	exploit := func(trial, donor core.TrialNo, iteration uint64, lr float64) {
		w.Event(&core.SchedulerDecided{Commands: []core.Command{{Kind: core.Exploit, Trial: trial, Donor: donor,
			Iteration: iteration, Params: fmt.Appendf(nil, `{"lr":%g}`, lr)}}})
	}
	w.Start(5)
	w.Run(3)
	exploit(0, 1, 3, 0.25)
	w.Run(2)
	exploit(4, 0, 5, 0.5)
	w.Run(-1)
	w.Close()
}

type drawn struct {
	name, kind string
	options    plot.Options
	sources    []string
}

var all = []drawn{
	{name: "history", kind: "history", sources: []string{"rich"}},
	{name: "history-loss", kind: "history", options: plot.Options{Metric: "loss", Mode: "min"},
		sources: []string{"rich"}},
	{name: "history-two", kind: "history", options: plot.Options{Metric: "accuracy"}, sources: []string{"rich", "two"}},
	{name: "curves", kind: "curves", sources: []string{"rich"}},
	{name: "importance", kind: "importance", sources: []string{"rich"}},
	{name: "parallel", kind: "parallel", sources: []string{"rich"}},
	{name: "slice", kind: "slice", sources: []string{"rich"}},
	{name: "slice-chosen", kind: "slice", options: plot.Options{Params: []string{"momentum"}, Top: 10},
		sources: []string{"rich"}},
	{name: "contour", kind: "contour", options: plot.Options{Params: []string{"lr", "dropout"}},
		sources: []string{"rich"}},
	{name: "contour-categories", kind: "contour", options: plot.Options{Params: []string{"lr", "optimizer"}},
		sources: []string{"rich"}},
	{name: "pareto", kind: "pareto", sources: []string{"two"}},
	{name: "timeline", kind: "timeline", sources: []string{"rich"}},
	{name: "lineage", kind: "lineage", sources: []string{"family"}},
	{name: "edf", kind: "edf", sources: []string{"rich"}},
	{name: "edf-two", kind: "edf", options: plot.Options{Metric: "accuracy"}, sources: []string{"rich", "two"}},
}

func experiments(t *testing.T) map[string]*view.Recorded {
	return map[string]*view.Recorded{"rich": wrote(t, "rich", rich, richly), "two": wrote(t, "two", two, twofold),
		"family": wrote(t, "family", family, familiar)}
}

func draw(t *testing.T, d drawn, known map[string]*view.Recorded) *plot.Plot {
	t.Helper()
	var list []*view.Recorded
	for _, name := range d.sources {
		list = append(list, known[name])
	}
	k, err := plot.Find(d.kind, len(list), d.options)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Draw(list, d.options)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return p
}

// What each kind draws, as data and on a terminal.
func TestKinds(t *testing.T) {
	known := experiments(t)
	for _, d := range all {
		p := draw(t, d, known)
		got := p.Figure.String() + "\n" + p.Terminal(80, false)
		file := filepath.Join("testdata", d.name+".txt")
		if *rewrite {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got; -rewrite writes it):\n%s", d.name, diff)
		}
	}
}

// Without colours no two entries of a legend look the same.
func TestLegendsWithoutColours(t *testing.T) {
	known := experiments(t)
	for _, d := range all {
		p := draw(t, d, known)
		lines := strings.Split(strings.TrimSpace(p.Terminal(200, false)), "\n")
		seen := map[string]string{}
		for _, k := range p.Figure.Keys {
			explains := func(l string) bool { return strings.HasPrefix(l, "  ") && strings.Contains(l, k.Name) }
			at := slices.IndexFunc(lines, explains)
			if at < 0 {
				t.Errorf("%s: the legend lacks %q", d.name, k.Name)
				continue
			}
			sample := string([]rune(lines[at])[:5])
			if other := seen[sample]; other != "" && other != lines[at] {
				t.Errorf("%s: these look the same:\n%s\n%s", d.name, other, lines[at])
			}
			seen[sample] = lines[at]
		}
	}
}

// Each file is what its ending says, and the same each time.
func TestFiles(t *testing.T) {
	known := experiments(t)
	for _, d := range all {
		p := draw(t, d, known)
		for _, format := range plot.Formats {
			b, err := p.File(format)
			if err != nil {
				t.Fatalf("%s.%s: %v", d.name, format, err)
			}
			if err := wellFormed(format, b); err != nil {
				t.Errorf("%s.%s: %v", d.name, format, err)
			}
			if again, _ := p.File(format); format != "png" && !bytes.Equal(b, again) {
				t.Errorf("%s.%s differs from time to time", d.name, format)
			}
			if *look != "" {
				if err := os.WriteFile(filepath.Join(*look, d.name+"."+format), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func wellFormed(format string, b []byte) error {
	switch format {
	case "png":
		_, err := png.Decode(bytes.NewReader(b))
		return err
	case "pdf":
		if !bytes.HasPrefix(b, []byte("%PDF-1.")) || !bytes.HasSuffix(b, []byte("%%EOF\n")) {
			return fmt.Errorf("%.20q … %q", b, b[max(len(b)-20, 0):])
		}
		return nil
	}
	return onlyShapes(b)
}

// onlyShapes reads XML, and refuses elements that a drawing does not have: names are data.
func onlyShapes(b []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		x, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if e, ok := x.(xml.StartElement); ok && !strings.Contains(" svg title rect path text ", " "+e.Name.Local+" ") {
			return fmt.Errorf("it has the element %s", e.Name.Local)
		}
	}
}

// Names of an experiment are one line of printable characters, however long they are.
func TestHostileNames(t *testing.T) {
	long := strings.Repeat("long ", 40)
	source := `version: 1
objective: {metric: "</text><script>alert(1)</script>", mode: max}
space:
  "a\u202eb": {loguniform: [1e-5, 1.0]}
  "` + strings.TrimSpace(long) + `": {choice: ["]]>", "&amp;\u0007\u001b[2J", "` + long + `"]}
trials: 20
`
	e := wrote(t, "hostile", source, func(w *viewtest.Writer) {
		w.Names = []string{"</text><script>alert(1)</script>", "other"}
		richly(w)
	})
	for _, kind := range plot.Names() {
		if kind == "pareto" {
			continue
		}
		k, err := plot.Find(kind, 1, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Draw([]*view.Recorded{e}, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.File("svg")
		if err == nil {
			err = wellFormed("svg", b)
		}
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		text := string(b) + p.Terminal(80, false)
		if strings.ContainsAny(text, "\x1b\a\u202e") || strings.Contains(text, long) {
			t.Errorf("%s has a name as it is", kind)
		}
	}
}

// Without results there is one line that says so; the timeline needs trials only.
func TestNothingYet(t *testing.T) {
	e := wrote(t, "empty", rich, func(w *viewtest.Writer) { w.Close() })
	for _, kind := range plot.Names() {
		k, err := plot.Find(kind, 1, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = k.Draw([]*view.Recorded{e}, plot.Options{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Very many trials are thinned, and the plot says so; the best is always among them.
func TestMany(t *testing.T) {
	e := wrote(t, "many", strings.Replace(rich, "trials: 40", "trials: 6000", 1), func(w *viewtest.Writer) {
		w.Iterations = 1
		w.Metrics = func(no core.TrialNo, _ uint64) []float64 {
			if no == 4321 {
				return []float64{2, 0}
			}
			return []float64{float64(no*7919%6000) / 6000, 0}
		}
		w.Start(8)
		w.Run(-1)
		w.Close()
	})
	for _, kind := range []string{"history", "curves", "parallel", "slice", "contour", "timeline"} {
		k, err := plot.Find(kind, 1, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Draw([]*view.Recorded{e}, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(p.Figure.Notes, "\n"), " of 6000 trials") {
			t.Errorf("%s: %q", kind, p.Figure.Notes)
		}
		b, err := p.File("svg")
		if err != nil || len(b) > 4<<20 {
			t.Errorf("%s: %d bytes, %v", kind, len(b), err)
		}
	}
}
