package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func choices(values ...string) [][]byte {
	var out [][]byte
	for _, v := range values {
		out = append(out, []byte(v))
	}
	return out
}

func testScope() *Scope {
	return &Scope{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 0, High: 1},
			{Name: "layers", Kind: space.Int, Low: 1, High: 5},
			{Name: "optimizer", Kind: space.Choice, Choices: choices(`"sgd"`, `"adam"`, `"adamw"`)},
			{Name: "batch", Kind: space.Choice, Choices: choices(`16`, `32`, `64`)},
			{Name: "nesterov", Kind: space.Choice, Choices: choices(`true`, `false`)},
			{Name: "model/width", Kind: space.Int, Low: 1, High: 100},
			{Name: "weight-decay", Kind: space.Real, Low: 0, High: 1},
			{Name: "cfg", Kind: space.Choice, Choices: choices(`{"size":1}`, `{"size":2}`)},
			{Name: "later", Kind: space.Real, Low: 0, High: 1},
		},
		Constants: map[string]any{"epochs": int64(10), "kind": "cnn"},
		Forbidden: map[string]string{"later": "is declared later"},
	}
}

// show prints a tree as text.
func show(e *space.Expr) string {
	names := [...]string{"", "const", "p", "in", "neg", "+", "-", "*", "/", "idiv", "%", "<", "<=", ">", ">=", "==",
		"!=", "and", "or", "not", "if"}
	switch e.Op {
	case space.Const:
		return fmt.Sprint(e.Number)
	case space.Number:
		return fmt.Sprintf("p%d", e.Param)
	case space.In:
		return fmt.Sprintf("(in p%d %v)", e.Param, e.Set)
	}
	parts := []string{names[e.Op]}
	for _, a := range e.Args {
		parts = append(parts, show(a))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// B-106
func TestLower(t *testing.T) {
	for src, want := range map[string]string{
		"optimizer == 'sgd'":                    "(in p2 [0])",
		"'sgd' != optimizer":                    "(in p2 [1 2])",
		"optimizer in ['sgd', 'adamw']":         "(in p2 [0 2])",
		"optimizer.startsWith('adam')":          "(in p2 [1 2])",
		"!(optimizer == 'sgd')":                 "(not (in p2 [0]))",
		"layers in [2,3]":                       "(or (== p1 2) (== p1 3))",
		"layers in [2.0, 3]":                    "(or (== p1 2) (== p1 3))",
		"lr * 10.0 > 1":                         "(> (* p0 10) 1)",
		"lr*10 > 1":                             "(> (* p0 10) 1)",
		"lr == 1":                               "(== p0 1)",
		"layers / 2 == 1":                       "(== (idiv p1 2) 1)",
		"layers / 2.0 >= 1":                     "(>= (/ p1 2) 1)",
		"layers % 2 == 0 && lr < 0.5":           "(and (== (% p1 2) 0) (< p0 0.5))",
		"lr > 0.1 && lr < 0.2 && layers != 2":   "(and (> p0 0.1) (< p0 0.2) (!= p1 2))",
		"-lr < 0 || layers > 3":                 "(or (< (neg p0) 0) (> p1 3))",
		"model.width > 3":                       "(> p5 3)",
		"model['width'] > 3":                    "(> p5 3)",
		"params.model.width > 3":                "(> p5 3)",
		"params['weight-decay'] > 0.5":          "(> p6 0.5)",
		"params['model/width'] > 3":             "(> p5 3)",
		"batch >= 32":                           "(in p3 [1 2])",
		"batch * layers <= 128":                 "(<= (* p3 p1) 128)",
		"nesterov":                              "(in p4 [0])",
		"nesterov == (lr > 0.5)":                "(== (in p4 [0]) (> p0 0.5))",
		"cfg.size == 2":                         "(in p7 [1])",
		"layers * 2 < epochs":                   "(< (* p1 2) 10)",
		"kind == 'cnn'":                         "1",
		"kind == 'cnn' && lr > 1 - 0.5":         "(and 1 (> p0 0.5))",
		"(layers > 2 ? lr : lr * 2) < 0.1":      "(< (if (> p1 2) p0 (* p0 2)) 0.1)",
		"layers > 2 ? lr < 0.1 : nesterov":      "(if (> p1 2) (< p0 0.1) (in p4 [0]))",
		"double(layers) / 2 > 1":                "(> (/ p1 2) 1)",
		"['sgd','x'].exists(o, o == optimizer)": "(in p2 [0])",
		"optimizer == 'sgdd'":                   "(in p2 [])",
	} {
		got, err := Lower(src, testScope())
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if show(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", src, show(got), want)
		}
	}
}

func TestLowerOpaque(t *testing.T) {
	for _, src := range []string{"sqrt(lr) > 0.5", "[lr, 0.5].exists(x, x > 0.7)", "cfg.size > lr", "has(params.lr)",
		"'lr' in params", "string(layers) == '2'"} {
		if _, err := Lower(src, testScope()); !errors.Is(err, ErrOpaque) {
			t.Errorf("%s: %v, want ErrOpaque", src, err)
		}
		if _, err := Compile(src, testScope(), Bool); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "column 1: found an empty expression",
		"lrr > 1":                 `column 1: no parameter "lrr"; did you mean "lr"?`,
		"lr > 0 && optimzer=='a'": `column 11: no parameter "optimzer"; did you mean "optimizer"?`,
		"model > 1":               `column 1: no parameter "model"; model is a group, write model.width`,
		"model.widht > 1":         `column 1: no parameter "model.widht"; did you mean "model.width"?`,
		"later > 1":               "column 1: later is declared later",
		"lr > 1 and layers > 2":   `column 8: unexpected 'and'; write &&, not and`,
		"lr = 1":                  `column 4: unexpected '= '; write ==, not =`,
		"lr >":                    `column 5: unexpected end of the expression`,
		"lr":                      "column 1: the expression gives a number, expected true or false",
		"optimizer == 3":          "column 1: compares a text with a number, which are never equal",
		"optimizer > 3":           "column 11: > does not take (text, int)",
		"lr && true":              "column 1: expected type 'bool' but found 'double'",
		"uniform(0, 1) > 0.5":     "column 1: uniform() is random, and only a sample may be",
		strings.Repeat("x", 3000) + " > 1": `column 1: no parameter "` + strings.Repeat("x", 60) +
			`…"; known here: batch, cfg, epochs, kind, layers, lr, model.width, nesterov, optimizer, weight-decay`,
		strings.Repeat("f", 3000) + "(1)": `column 1: no function "` + strings.Repeat("f", 60) + `…"`,
		"sqr(lr) > 1":                     `column 1: no function "sqr"; did you mean "sqrt"?`,
		"1 / 0 > lr": "column 3: 1 / 0 > lr: this part has no value, whatever the parameters are " +
			"(division by zero); write the expression without it",
		"lr > 1.0 || 1 % 0 == 2": "column 15: lr > 1.0 || 1 % 0 == 2: this part has no value, whatever the " +
			"parameters are (modulus by zero); write the expression without it",
	} {
		_, err := Lower(src, testScope())
		if err == nil {
			_, err = Compile(src, testScope(), Bool)
		}
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%q: %v, want an *Error", src, err)
		} else if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", src, err, want)
		}
	}
}

func TestDoubts(t *testing.T) {
	for src, want := range map[string]string{
		"optimizer == 'sgdd'":       `[column 14: "sgdd" is not a choice of optimizer; did you mean "sgd"?]`,
		"optimizer in ['sgd', 'x']": `[column 22: "x" is not a choice of optimizer]`,
		"'sgd' == optimizer":        "[]",
		"batch == 32.0":             "[]",
	} {
		if got := fmt.Sprint(Doubts(src, testScope())); got != want {
			t.Errorf("%s:\n got %s\nwant %s", src, got, want)
		}
	}
}

// Whole numbers that divide to whole numbers, where a real number was probably meant.
func TestDoubtfulDivisions(t *testing.T) {
	plain := testScope()
	sample := testScope()
	sample.Random = true
	budget := &Scope{Vars: map[string]Type{"trials": Int, "trials_failed": Int, "time": Float}}
	for _, c := range []struct {
		scope  *Scope
		src    string
		column int // of the only doubt; 0: none
	}{
		{budget, "trials_failed / trials > 0.4", 15},
		{budget, "0.4 < trials_failed / trials", 21},
		{budget, "trials_failed * 1.0 / trials > 0.4", 0},
		{budget, "time / trials > 0.4", 0},
		{budget, "trials / 10 * 2 > 0.4", 8},
		{budget, "trials / 10 >= 2", 0},
		{budget, "time > 1/2", 9},
		{plain, "layers / 2 == 1", 0},
		{plain, "lr * (layers / batch) < 0.1", 14},
		{plain, "sqrt(layers / batch) < 1.0", 13},
		{plain, "int(layers / batch) < 1.0", 0},
		{sample, "layers / batch", 8},
		{sample, "int(layers / batch)", 0},
		{sample, "layers / 2", 0},
		{sample, "7 / 2", 3},
		{sample, "ceil(layers / 2)", 13},
		{sample, "lr / 2", 0},
	} {
		got := Doubts(c.src, c.scope)
		if c.column == 0 && len(got) == 0 || c.column > 0 && len(got) == 1 && got[0].Column == c.column {
			continue
		}
		t.Errorf("%s: found %v, want one at column %d (0: none)", c.src, got, c.column)
	}
}

func TestBool(t *testing.T) {
	s := &Scope{
		Params: []space.Param{{Name: "lr", Kind: space.Real, Low: 0, High: 1},
			{Name: "layers", Kind: space.Int, Low: 1, High: 9}, {Name: "time", Kind: space.Int, Low: 1, High: 9}},
		Vars:    map[string]Type{"iteration": Int, "time": Float},
		Metrics: true,
	}
	v := Values{
		Params:  map[string]any{"lr": int64(1), "time": int64(1)},
		Metrics: map[string]float64{"accuracy": 0.9, "val/acc": 0.5, "bad": math.NaN()},
		Vars:    map[string]any{"iteration": 81, "time": 3.5},
	}
	for src, want := range map[string]string{
		"accuracy > 0.99 || iteration >= 81":    "true",
		"val.acc == 0.5":                        "true",
		`metrics["val/acc"] < accuracy`:         "true",
		"time > 3 && lr == 1":                   "true",
		"time > 3 && params.time == 1":          "true",
		"iteration / 2 == 40":                   "true",
		"bad > 0":                               "false",
		"missing > 1":                           "unknown",
		"missing > 1 || accuracy > 0.5":         "true",
		"missing > 1 && accuracy < 0.5":         "false",
		"layers > 1":                            "unknown",
		"has(val.acc) && !has(val.loss)":        "true",
		"has(params.lr) && !has(params.layers)": "true",
		"accuracy / (lr - 1) > 0":               "unknown",
		"metrics.exists(m, m == 'accuracy')":    "true",
	} {
		p, err := Compile(src, s, Bool)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		holds, err := p.Bool(v)
		got := fmt.Sprint(holds)
		if errors.Is(err, ErrUnknownValue) {
			got = "unknown"
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", src, got, err, want)
		}
	}
}

// B-102, B-106
func TestSample(t *testing.T) {
	s := testScope()
	s.Random = true
	check := map[string]func(v any) bool{
		"uniform(0, 1)":         func(v any) bool { return v.(float64) >= 0 && v.(float64) < 1 },
		"loguniform(1e-3, lr)":  func(v any) bool { return v.(float64) >= 1e-3 && v.(float64) <= 0.5 },
		"normal(0, 1) * 0":      func(v any) bool { return v.(float64) == 0 },
		"randint(3, 4)":         func(v any) bool { return v.(int64) == 3 || v.(int64) == 4 },
		"choice(['a', 'b'])":    func(v any) bool { return v == "a" || v == "b" },
		"lr * 10":               func(v any) bool { return v.(float64) == 5 },
		"[layers, layers * 2]":  func(v any) bool { return fmt.Sprint(v) == "[2 4]" },
		"{'a': layers}":         func(v any) bool { return fmt.Sprint(v) == "map[a:2]" },
		"min(layers, 10) + 1":   func(v any) bool { return v.(float64) == 3 },
		"choice([1, 2]) * 10.5": func(v any) bool { return v == 10.5 || v == 21.0 },
	}
	for src, ok := range check {
		p, err := Compile(src, s, Any)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		seen := map[string]bool{}
		for seed := range uint64(20) {
			v := Values{Params: map[string]any{"lr": 0.5, "layers": int64(2)}, Seed: seed}
			a, err := p.Eval(v)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			b, _ := p.Eval(v)
			if !ok(a) || fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s: %v, then %v", src, a, b)
			}
			seen[fmt.Sprint(a)] = true
		}
		if strings.Contains(src, "randint") && len(seen) != 2 {
			t.Errorf("%s gave %v, want both ends", src, seen)
		}
	}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("1 + ", 3000) + "1 > 0"
	deep := strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000) + " > 0"
	for _, src := range []string{long, deep, "\xff"} {
		if _, err := Compile(src, testScope(), Bool); err == nil {
			t.Errorf("%.20s… was accepted", src)
		}
	}
	want := "column 101: the expression is nested more than 100 deep from here on; write it in several parts, or " +
		"without brackets that it does not need"
	if _, err := Compile(deep, testScope(), Bool); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	list := "[" + strings.Repeat("1,", 400) + "1]"
	heavy := list + ".all(a, " + list + ".all(b, " + list + ".all(c, a == 1)))"
	p, err := Compile(heavy, testScope(), Bool)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Bool(Values{}); err == nil || !strings.Contains(err.Error(), "too many steps") {
		t.Errorf("64 million steps: %.200v", err)
	}
}

func FuzzLower(f *testing.F) {
	for _, src := range []string{"optimizer == 'sgd'", "lr*10 > 1 && layers in [2,3]", "model['width'] % 2 == 0",
		"has(a.b)", "[1].map(x, x)", "{'a': 1}", "a{b: 1}", "x ? y : z", "\"\\u00e9\" in params", "metrics.a.b", "1u",
		"b'x'", "type(lr)"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := testScope()
		e, err := Lower(src, s)
		if err == nil && e == nil {
			t.Fatal("neither a tree nor an error")
		}
		Doubts(src, s)
		s.Metrics, s.Random = true, true
		p, err := Compile(src, s, Any)
		if err != nil {
			return
		}
		if _, err := p.Eval(Values{Params: map[string]any{"lr": 0.5, "optimizer": "sgd"}}); err != nil &&
			strings.Contains(err.Error(), "\n") {
			t.Fatalf("error in several lines: %q", err)
		}
	})
}
