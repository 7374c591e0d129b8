package rust_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// The module in C (../c) implements the same interface.
func TestC(t *testing.T) {
	m := &module{guest(t, "c-guests", "dice")}
	info := m.describe(t)
	if info.Name != "dice" {
		t.Errorf("%+v", info)
	}
	if err := conformance.CheckInfo(info, sdk.KindSearcher); err != nil {
		t.Error(err)
	}
	wantError(t, m.load(t).suggestNothing(), "not opened")
	for name, says := range map[string]string{"wide": "dice knows no constraints", "odd": "no stepped parameters"} {
		_, err := m.searcher(t, problem(spaces[name]), "")
		wantError(t, err, says)
	}
}

func (i *instance) suggestNothing() error {
	_, err := searcherModule{i}.Suggest(i.t.Context(), nil)
	return err
}

// Its points lie in the space, are evenly distributed and depend on their seeds.
func TestCDraws(t *testing.T) {
	s := &space.Space{Params: []space.Param{
		{Name: "lr", Kind: space.Real, Low: 1e-300, High: 1e300, Log: true},
		{Name: "momentum", Kind: space.Real, Low: -1, High: 1},
		{Name: "layers", Kind: space.Int, Low: -2, High: 3},
		{Name: "width", Kind: space.Int, Low: 1, High: 1 << 20, Log: true},
		{Name: "optimizer", Kind: space.Choice, Choices: choices(`"a"`, `"b"`, `"c"`)},
	}}
	searcher, err := (&module{guest(t, "c-guests", "dice")}).searcher(t, problem(s), "{}")
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	requests := make([]sdk.Request, n)
	for i := range requests {
		requests[i] = sdk.Request{Trial: uint32(i), Seed: uint64(i) * 7}
	}
	requests[0].Given = space.Point{math.NaN(), 0.5, math.NaN(), math.NaN(), 2}
	events := make([]sdk.Event, 1000)
	for i := range events {
		events[i] = sdk.Event{Number: uint64(i + 1), Kind: sdk.ResultReported, Trial: uint32(i), Iteration: 1,
			Losses: []float64{1}}
	}
	if err := searcher.Observe(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	answer, err := searcher.Suggest(t.Context(), requests)
	if err != nil || len(answer.Points) != n {
		t.Fatalf("%d points, %v", len(answer.Points), err)
	}
	if p := answer.Points[0]; p[1] != 0.5 || p[4] != 2 {
		t.Errorf("given coordinates were not taken: %v", p)
	}
	means := make([]float64, len(s.Params))
	for _, p := range answer.Points {
		if err := s.Check(p); err != nil {
			t.Fatal(err)
		}
		for i, x := range p {
			means[i] += s.ToUnit(i, x) / n
		}
	}
	for i, mean := range means {
		if math.Abs(mean-0.5) > 0.05 {
			t.Errorf("parameter %q is at %g on average", s.Params[i].Name, mean)
		}
	}
	again, err := searcher.Suggest(t.Context(), requests[1:2])
	if err != nil || fmt.Sprint(again.Points[0]) != fmt.Sprint(answer.Points[1]) {
		t.Errorf("%v, then %v, %v", answer.Points[1], again.Points, err)
	}
}

// buildLine matches a command in the header's comment that builds x.c.
var buildLine = regexp.MustCompile(`(?m)^ \*     (.* -o x\.wasm x\.c)$`)

// The header's build commands build a plugin without any library at each optimisation level,
// although compilers add calls of memcmp and similar functions.
func TestCBuilds(t *testing.T) {
	lines := buildLine.FindAllStringSubmatch(string(read(t, "../c/tunehost.h")), -1)
	if len(lines) != 2 {
		t.Fatalf("the header has %d build lines", len(lines))
	}
	for _, m := range lines {
		for _, level := range []string{"-O2", "-Oz"} {
			line := strings.NewReplacer(" -O2", " "+level+" -Wall -Wextra -Werror", "python3 ",
				zig(t)+" ").Replace(m[1])
			t.Run(strings.Fields(m[1])[0]+level, func(t *testing.T) { buildsDice(t, line) })
		}
	}
}

// zig returns a python3 with the zig compiler.
func zig(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(tools(t), "zig-*", "bin", "python"))
	if err != nil || len(found) == 0 {
		toolchain.Missing(t, toolchain.C, ".tools has no Zig: make c-guests")
	}
	return slices.Max(found)
}

// buildsDice runs a build command on the sample and loads the result.
func buildsDice(t *testing.T, line string) {
	m := compiled(t, line, string(read(t, "../c/dice.c")))
	if info := m.describe(t); info.Name != "dice" {
		t.Errorf("%+v", info)
	}
	if err := m.load(t).suggestNothing(); err == nil {
		t.Error("it suggests before it is opened")
	}
}

// compiled is the module that a build command makes of a source.
func compiled(t *testing.T, line, source string) *module {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.c"), []byte(source))
	write(t, filepath.Join(dir, "tunehost.h"), read(t, "../c/tunehost.h"))
	if program, _, _ := strings.Cut(line, " "); program == "clang" {
		toolchain.Optional(t, program, "Zig, which is clang too, is tested")
		toolchain.Optional(t, "wasm-ld", "install lld beside clang; Zig, which has both, is tested")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cache := filepath.Join(tools(t), "zig-cache")
	cmd.Env = append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+cache, "ZIG_LOCAL_CACHE_DIR="+cache)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return &module{filepath.Join(dir, "x.wasm")}
}

// hearing ends the search when a trial reports a result once more.
const hearing = `#include "tunehost.h"
const th_info th_plugin = {"hearing", "1", "Hears.", "{}"};
static int heard;
const char *th_open(void) { return th_again = 1, NULL; }
void th_observe(const th_event *e) { heard += e->again; }
int th_suggest(const th_request *r, double *point) { return (void)r, (void)point, heard ? TH_EXHAUSTED : TH_WAIT; }
`

// A searcher that asks for results that a restarted trial reports once more is told which they are. B-061
func TestCHearsAgain(t *testing.T) {
	line := strings.Replace(buildLine.FindAllStringSubmatch(string(read(t, "../c/tunehost.h")), -1)[1][1], "python3 ",
		zig(t)+" ", 1)
	i, opened := compiled(t, line, hearing).load(t), &pb.OpenSearcherResponse{}
	request := &pb.OpenSearcherRequest{Problem: wire.ProblemToProto(problem(&space.Space{}))}
	if err := i.invoke(pb.SearcherService_OpenSearcher_FullMethodName, request, opened); err != nil {
		t.Fatal(err)
	}
	if !opened.GetTraits().GetAgain() {
		t.Error(opened)
	}
	for n, want := range []sdk.Status{sdk.Wait, sdk.Exhausted} {
		events := []sdk.Event{{Number: uint64(n + 1), Kind: sdk.ResultReported, Again: n == 1}}
		if err := (searcherModule{i}).Observe(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if answer, err := (searcherModule{i}).Suggest(t.Context(), make([]sdk.Request, 1)); answer.Status != want ||
			err != nil {
			t.Errorf("%v, %v; want %v", answer, err, want)
		}
	}
}
