package space_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// table returns the rows of the table of PROTOCOL.md whose first row begins with head.
func table(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "\n| "+head)
	if !found {
		t.Fatalf("PROTOCOL.md has no table %q", head)
	}
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") && len(rows) > 0 {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		rows = append(rows, cells)
	}
	return rows[2:] // without the rest of the head and the line below it
}

// value reads a number of the page.
func value(t *testing.T, text string) float64 {
	t.Helper()
	if text == "unknown" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
}

// problem decodes a space as a plugin receives it.
func problem(t *testing.T, message string) *space.Space {
	t.Helper()
	m := &pb.Problem{}
	if err := protojson.Unmarshal([]byte(message), m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	p, err := wire.ProblemFromProto(m)
	if err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return p.Space
}

// The operations on the page match this package: number, arguments and value.
func TestPageOperations(t *testing.T) {
	rows := table(t, "op | name")
	if len(rows) != int(space.If) {
		t.Errorf("%d operations, want %d", len(rows), space.If)
	}
	for i, row := range rows {
		op := value(t, row[0])
		if op != float64(i+1) {
			t.Errorf("operation %v in row %d", op, i+1)
		}
		for example := range strings.SplitSeq(row[3], ";") {
			given, want, found := strings.Cut(example, "→")
			if !found {
				continue // these are in the table of expressions
			}
			e := &space.Expr{Op: space.Op(op)}
			for text := range strings.SplitSeq(given, ",") {
				e.Args = append(e.Args, &space.Expr{Op: space.Const, Number: value(t, strings.TrimSpace(text))})
			}
			if got := e.Eval(&space.Space{}, nil); !same(got, value(t, strings.TrimSpace(want))) {
				t.Errorf("%s: %s, but it is %v", row[1], example, got)
			}
		}
	}
}

// The expressions on the page, as messages, have the values on the page.
func TestPageExpressions(t *testing.T) {
	const params = `{"name": "x", "kind": 1, "low": -9, "high": 9}, {"name": "opt", "kind": 4, "choices": [%s]}`
	choices := make([]string, 3)
	for i, raw := range []string{`"adam"`, `64`, `"sgd"`} {
		text, err := json.Marshal([]byte(raw)) // base64, as protobuf's JSON encodes bytes
		if err != nil {
			t.Fatal(err)
		}
		choices[i] = string(text)
	}
	rows := table(t, "expression")
	if len(rows) < 8 {
		t.Errorf("%d expressions", len(rows))
	}
	for _, row := range rows {
		s := problem(t, fmt.Sprintf(`{"space": {"params": [`+params+`], "constraints": [%s]}}`,
			strings.Join(choices, ", "), row[0]))
		p := space.Point{value(t, row[1]), value(t, row[2])}
		if got := s.Constraints[0].Eval(s, p); !same(got, value(t, row[3])) {
			t.Errorf("%s at %v: %s, but it is %v", row[0], p, row[3], got)
		}
	}
}

// The stepped parameters on the page have the values on the page.
func TestPageSteps(t *testing.T) {
	rows := table(t, "parameter")
	if len(rows) < 10 {
		t.Errorf("%d parameters", len(rows))
	}
	for _, row := range rows {
		s := problem(t, fmt.Sprintf(`{"space": {"params": [%s]}}`, row[0]))
		for i, u := range []float64{0, 0.5, 1} {
			if want := row[1+i]; want != "" && !same(s.FromUnit(0, u), value(t, want)) {
				t.Errorf("%s: %s at %v, but it is %v", row[0], want, u, s.FromUnit(0, u))
			}
		}
		if got := s.Quantise(0, value(t, row[4])); !same(got, value(t, row[5])) {
			t.Errorf("%s: nearest to %s is %s, but it is %v", row[0], row[4], row[5], got)
		}
	}
}
