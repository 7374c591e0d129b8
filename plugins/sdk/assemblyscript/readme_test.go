package assemblyscript_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/host/scaffold"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// TestReadme follows README.md word for word from an empty folder, with what the program writes and no sources.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	written := t.TempDir()
	d, err := scaffold.DocumentOf("assemblyscript")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WriteTo(written); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if m[1] == "ts" {
			if err := os.WriteFile(filepath.Join(dir, "nearby.ts"), []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		run(t, dir, m[2], "TUNEHOST="+written)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "nearby.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if most := regexp.MustCompile(`of \d+ to (\d+) KB`).FindSubmatch(text); most == nil ||
		float64(len(wasm)) > 1000*kilobytes(t, most[1]) {
		t.Errorf("nearby.wasm has %d bytes; README.md has %q", len(wasm), most)
	}
	conformancetest.Module(t, sdk.KindSearcher, filepath.Join(dir, "nearby.wasm"))
	g := instantiate(t, wasm)
	g.must("SearcherService/OpenSearcher", &pb.OpenSearcherRequest{Problem: problem(wide()),
		Options: []byte(`{"start": 2}`)}, &pb.OpenSearcherResponse{})
	points := g.suggest(nil, requests(0, 2)).Points
	for _, p := range g.suggest(told(points, func(p space.Point) float64 { return p[0] }), requests(2, 5)).Points {
		if err := wide().Check(p); err != nil {
			t.Error(err)
		}
	}
}

func kilobytes(t *testing.T, digits []byte) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func run(t *testing.T, dir, script, env string) {
	t.Helper()
	toolchain.Need(t, toolchain.AssemblyScript)
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env, "npm_config_prefer_offline=true", "npm_config_audit=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}
