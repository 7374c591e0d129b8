package validate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/validate/needs"
)

// A script is looked for where the program is started, too.
func TestScriptInCWD(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "work", "t.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")},
		Trainable: &config.Trainable{CWD: "work"}}
	for arg, want := range map[string]bool{"t.sh": false, "other.sh": true, "work/t.sh": false} {
		if got := absentScript(e, arg); got != want {
			t.Errorf("%s: absent is %t", arg, got)
		}
	}
}

// A file that the command names and that is not sent to nodes is a doubt, where trials run on nodes.
func TestUnsentFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "here")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(top, "out.py"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "in.py"), nil, 0o600),
		os.Symlink("in.py", filepath.Join(dir, "link.py"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, executor, want string }{
		{"../out.py", "executor: far", `"../out.py" is outside of the folder`},
		{"../out.py", "", ""},
		{"../none.py", "executor: far", ""},
		{filepath.Join(top, "out.py"), "executor: far", ""},
		{"in.py", "executor: far", ""},
		{"link.py", "executor: far", `"link.py" is a link, which is not sent`},
		{"link.py", "executor: {plugin: far, upload: [link.py, in.py]}", ""},
		{"link.py", "executor: {plugin: far, upload: [./]}", ""},
		{"link.py", "executor: {plugin: far, upload: [in.py]}", `"link.py" is a link, which is not sent`},
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [python3, " + c.arg + "]}\n"
		e, err := config.Parse(filepath.Join(dir, "a.yaml"), []byte(text+c.executor+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		list := unsent(e)
		if (len(list) > 0) != (c.want != "") || c.want != "" && (!strings.HasPrefix(list[0].Msg, c.want) ||
			list[0].Pos.Line != 3) {
			t.Errorf("%s, %s: %v, want %q", c.arg, c.executor, list, c.want)
		}
	}
}

// A folder of plugins that is none is a doubt, as one that does not exist.
func TestUnusableFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")}}
	for place, want := range map[string]string{".": "", "none": "plugins: none: there is no such folder",
		"file": "plugins: file is not a folder", "/dev/zero": "plugins: /dev/zero is not a folder"} {
		e.Plugins = []string{place}
		list := unusableFolders(e)
		if (len(list) > 0) != (want != "") || want != "" && !strings.HasPrefix(list[0].Msg, want) {
			t.Errorf("%s: %v, want %q", place, list, want)
		}
	}
}

// Constraints that hold nowhere are found, also those that only the host can check; so is one that cannot be evaluated.
func TestImpossibleConstraints(t *testing.T) {
	t.Parallel()
	const ten = "[1,2,3,4,5,6,7,8,9,10]"
	endless := ten + ".exists(a," + ten + ".exists(b," + ten + ".exists(c," + ten + ".exists(d," + ten +
		".exists(e, lr > 2.0)))))"
	for constraint, want := range map[string]string{
		"lr > 2.0":                  "a.yaml:5:15: ",
		"[1].exists(a, lr > 2.0)":   "a.yaml:5:15: ",
		"[1].exists(a, lr > 0.995)": "",
		endless:                     "a.yaml:5:15: the constraint ",
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {lr: {uniform: [0, 1]}}\nconstraints: ['" + constraint + "']\ntrials: 3\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(tooTight(e), computable(e))
		if (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", constraint, err)
		}
	}
}

// Where no point satisfies constraints that have no value, the error says so, too.
func TestImpossibleDivisions(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"z: 0, a: {uniform: [1, 2]}", "z: 0, a: {grid: [1, 2]}",
		"a: {uniform: [1, 2]}, z: {choice: [0]}"} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\nspace: {"+space+"}\nconstraints: ['10 / z > 3']\ntrials: 3\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := "a.yaml:5:15: the constraint 10 / z > 3: unknown value (division by zero) where z is 0: "
		lines := strings.Split(fmt.Sprint(tooTight(e)), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[1], want) {
			t.Errorf("%s: %s", space, lines)
		}
	}
}

// A constraint that divides by zero somewhere, or is not a number, is false there: the user is told where.
func TestUndefinedConstraints(t *testing.T) {
	t.Parallel()
	for constraint, want := range map[string]string{
		"10 / a > 3": "a.yaml:5:15: the constraint 10 / a > 3: unknown value (division by zero) where a is 0: ",
		"!(sqrt(a - 1) > 7.0)": "unknown value (not a number) where a is 0: it is false there, and so would be its " +
			"negation",
		"a / c > 1":            "unknown value (division by zero) where a is 2 and c is 0: ",
		"a != 0 && 10 / a > 3": "",
		"a != 0', '10 / a > 3": "", // another constraint rules out where it has no value
		"10 / a > 3', 'a != 0": "",
		"10 / a > 3', 'a != 1": "unknown value (division by zero) where a is 0: ",
		"sqrt(a) < 2.0":        "",
	} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\nspace: {a: {int: [0, 2]}, c: {int: [0, 1], when: a > 1}}\n"+
			"constraints: ['"+constraint+"']\n"))
		if err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(undefined(e)); !strings.Contains(found, want) || (found == "[]") != (want == "") {
			t.Errorf("%s: %s, want %s", constraint, found, want)
		}
	}
}

// What trials need is tried, too: a run would end at the first trial without a value.
func TestRequestable(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]string{
		"w":                 "cpu: w: unknown value (no such attribute(s): w); some trials lack a value, such as",
		"o == 'a' ? w : 1":  "",
		"o == 'a' ? w : -1": "needs",
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {o: {choice: [a, b]}, w: {int: [1, 2], when: \"o == 'a'\"}}\nresources: {cpu: \"" + amount + "\"}\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = needs.Requestable(e)
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "a.yaml:5:")) {
			t.Errorf("%s: %v, want %q", amount, err, want)
		}
	}
}

// What is computed from parameters is tried: a run would fail at the first trial without a value. The user is told
// where that is, and what to do.
func TestComputable(t *testing.T) {
	t.Parallel()
	const other = `; give "y" another expression, or a condition that leaves this out, when: EXPR`
	for sample, want := range map[string]string{
		"uniform(1e308, -1e308)":            "the first bound is above the second" + other,
		"uniform(-1e308, 1e308)":            "the value is not finite for some random numbers" + other,
		"uniform(0, 1e308) * 10":            "the value is not finite for some random numbers" + other,
		"uniform(0, x)":                     "",
		"x > 0.5 ? 1.0 : uniform(1.0, 0.0)": "the first bound is above the second where x is 0.",
		"x > 0.98 ? x / 0 : x": "has no value: x > 0.98 ? x / 0 : x: unknown value (division by zero) where x " +
			"is 0.9",
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {x: {uniform: [0, 1]}, y: {sample: '" + sample + "'}}\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = computable(e)
		if found := Check(&options.Options{Plugins: bundled.New()}, e); err != nil && (found == nil ||
			!strings.Contains(found.Error(), err.Error())) {
			t.Errorf("%s: a run does not refuse it: %v", sample, found)
		}
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "a.yaml:4:31: ")) {
			t.Errorf("%s: %v, want %q", sample, err, want)
		}
	}
}

// What cannot be computed at a point of the user says where the point is, beside where the parameter is; so does the
// start of a run, also for points beyond those that are tried here.
func TestComputableAtPoints(t *testing.T) {
	t.Parallel()
	e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
		"trainable: {command: [a]}\nspace:\n  u: {uniform: [0, 1]}\n"+
		"  d: {sample: 'u > 0.9999 ? log(-1.0) : 1.0'}\npoints: [{u: 0.5}, {u: 0.99999}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `a.yaml:6:3: parameter "d" has no value: u > 0.9999 ? log(-1.0) : 1.0: unknown value (not a number) ` +
		`where u is 0.99999; give "d" another expression, or a condition that leaves this out, when: EXPR`
	if err := computable(e); err == nil || err.Error() != want+" (the point is at a.yaml:7:20)" {
		t.Error(err)
	}
	if _, err := points.Complete(e, 1, 0, e.Points[1].Given); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// A condition or a constraint that cannot be evaluated is named at its own place, with the values and what to do.
func TestUnevaluable(t *testing.T) {
	t.Parallel()
	const out = `a[0] == 'a': cannot be evaluated: index out of bounds: 0 where a is []; say first when it can be: ` +
		`EXPR && a[0] == 'a'`
	for more, want := range map[string]string{
		`  n: {uniform: [0, 1], when: "a[0] == 'a'"}`:         `a.yaml:6:30: parameter "n": its condition ` + out,
		`  n: {sample: "uniform(0, 1)", when: "a[0] == 'a'"}`: `a.yaml:6:38: parameter "n": its condition ` + out,
		"constraints: [\"a[0] == 'a'\"]":                      `a.yaml:6:15: the constraint ` + out,
	} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\nspace:\n  a: {choice: [[a, b], [c], []]}\n"+more+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := computable(e); err == nil || err.Error() != want {
			t.Errorf("%s: %v", more, err)
		}
	}
}

// A parameter that is computed from one that does not always exist has no value elsewhere, which would end a run in the
// middle; the user is told which condition it lacks. It is right where constraints, or points, always let the other one
// exist.
func TestComputedFromConditional(t *testing.T) {
	t.Parallel()
	const points = "points: [{u: 0.75, k: 2}]"
	for keys, want := range map[string]string{
		"b: {sample: k * 2}}": `e:4:64: parameter "b" has no value: k * 2: unknown value (no such attribute(s): k) ` +
			`where k does not exist and u is 0.`,
		"b: {sample: k * 2}}\ntrials: 30":                          `; give "b" the same condition, when: "u > 0.5"`,
		"b: {sample: k * 2, when: u > 0.5}}":                       "",
		"b: {sample: k * 2, when: u > 0.25}}":                      `; give "b" the same condition, when: "u > 0.5"`,
		"b: {sample: 'u > 0.5 ? k : 0'}}":                          "",
		"b: {sample: k, when: k > 1}}":                             "",
		"c: {value: 1, when: u < 0.1}, b: {sample: c + 1}}":        `when: "u < 0.1"`,
		"b: {sample: k * 2}}\nconstraints: u > 0.6":                "",
		"b: {sample: k * 2}}\ntrials: 1\n" + points:                "",
		"b: {sample: k * 2}}\ntrials: 2\n" + points:                `"b" has no value`,
		"b: {sample: 'sqrt(k - 2)'}}\ntrials: 1\npoints: [{k: 1}]": `"b" has no value`,
	} {
		e, err := config.Parse("e", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\n"+
			"space: {u: {uniform: [0, 1]}, k: {int: [1, 3], when: u > 0.5}, "+keys+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(computable(e))
		if !strings.Contains(got, want) || (got == "<nil>") != (want == "") {
			t.Errorf("%s: %s, want %q", keys, got, want)
		}
	}
}

// A constraint over a random number is not too tight, with or without a grid.
func TestRandomConstraints(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{
		"b: {sample: 'uniform(0, 1)'}}\nconstraints: b > 0.5",
		"b: {sample: 'uniform(0, 1)'}}\nconstraints: b > 0.99",
		"a: {grid: [1, 2]}, b: {sample: 'uniform(0, 1)'}}\nconstraints: b > 0.99",
		"a: {grid: [1, 2]}}\nconstraints: '[1].exists(x, a == 1 && u < 2.0)'",
		"a: {grid: [1, 2]}}\nconstraints: '[1].exists(x, a == 2 && u < 2.0)'",
	} {
		e, err := config.Parse("e", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\n"+
			"space: {u: {uniform: [0, 1]}, "+keys+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err, list := tooTight(e), tightSpace(e); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", keys, err, list)
		}
	}
}

// large is a grid of a billion combinations with a constraint.
func large(constraint string) string {
	text := "space:\n"
	for name := 'a'; name <= 'i'; name++ {
		text += fmt.Sprintf("  %c: {grid: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n", name)
	}
	return text + "constraints: ['" + constraint + "']"
}

// A grid of which nothing is left is a mistake, and so is one of which nobody can tell what is left; one that is
// partly left, and more points than trials, are not.
func TestWhatIsPlanned(t *testing.T) {
	t.Parallel()
	const grids, several = "space: {a: {grid: [1, 3]}, b: {grid: [1, 3]}}\n", "points: [{a: 1}, {a: 9}]\n"
	for keys, want := range map[string]string{
		grids + "constraints: ['a > b + 2']":            "no combination of the grid satisfies",
		grids + "constraints: ['a != b']":               "",
		large("a + b + c + d + e + f + g + h + i < 9"):  "e:14:15: no combination of the grid satisfies",
		large("a + b + c + d + e + f + g + h + i < 11"): "",
		large("(a * b + c * d + e * f + g * h + i) % 7 == 3"): "e:14:15: the grid has 1000000000 combinations, " +
			"too many to tell which of them the constraints leave",
		several + "space: {a: {int: [1, 9]}}\ntrials: 1":      "there are 2 points, more than trials (1)",
		several + "space: {a: {int: [1, 9]}}\ntrials: 2":      "",
		several + "space: {a: {grid: [1, 9]}}\ntrials: 1":     "",
		several + "space: {a: {uniform: [1, 9]}}\ntrials: -1": "",
	} {
		e, err := config.Parse("e", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
			"trainable: {command: [a]}\n"+keys+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := tooTight(e); err != nil {
			got = err.Error()
		}
		for _, x := range slices.Concat(manyPoints(e), tightSpace(e), hugePlan(e)) {
			got += x.Error()
		}
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}

// A parameter with the name of a metric takes the metric's place in expressions.
func TestParametersNamedAsMetrics(t *testing.T) {
	t.Parallel()
	text := "version: 1\nobjective: {metric: x, mode: min}\n" +
		"trainable: {command: [a], metrics: {net/loss: 'l=(.*)'}}\n" +
		"space:\n  x: {grid: [1, 2, 3]}\n  y: {uniform: [0, 1]}\n  net:\n    loss: {choice: [mse, mae]}\n  z: 3\n" +
		"stop: {z: 5}\n"
	e, err := config.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range namedAsMetrics(e) {
		place, _, _ := strings.Cut(x.Error(), ": in expressions")
		got = append(got, place)
	}
	want := []string{"a.yaml:5:3: the parameter x has the name of a metric",
		"a.yaml:8:5: the parameter net/loss has the name of a metric",
		"a.yaml:9:3: the parameter z has the name of a metric"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A point of the user with a value that cannot exist beside its others is refused at its place.
func TestImpossiblePoint(t *testing.T) {
	t.Parallel()
	e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
		"trainable: {command: [a]}\nspace: {u: {choice: [a, b]}, j: {int: [1, 2], when: u == 'a'}, "+
		"k: {int: [1, 2], when: u == 'b'}}\npoints: [{j: 1}, {j: 1, k: 2}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := computable(e); err == nil || !strings.Contains(err.Error(), "does not exist at any of the points") ||
		!strings.Contains(err.Error(), "a.yaml:5:18") {
		t.Error(err)
	}
}
