package rust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// section returns the text of README.md below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(string(read(t, "README.md")), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README.md has no %q", heading)
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// A step is a file that the reader creates (its name in backquotes, a colon, its content), or
// commands.
var step = regexp.MustCompile("(?s)(?:`([\\w./]+)`:\n\n)?```(\\w+)\n(.*?)```")

// A reader follows the README literally, in an empty folder.
type reader struct {
	t        *testing.T
	dir, bin string
}

func newReader(t *testing.T) *reader {
	toolchain.Need(t, toolchain.Rust)
	program, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t: t, dir: t.TempDir(), bin: filepath.Dir(program)}
}

func (r *reader) follow(text string) {
	r.t.Helper()
	for _, m := range step.FindAllStringSubmatch(text, -1) {
		switch name, language, content := m[1], m[2], m[3]; {
		case name != "":
			write(r.t, filepath.Join(r.dir, name), []byte(content))
		case language == "sh":
			for line := range strings.Lines(content) {
				r.run(strings.TrimSpace(line))
			}
		}
	}
}

// run runs one line of a shell. Built dependencies are kept for the next time, and are not
// optimised.
func (r *reader) run(line string) string {
	r.t.Helper()
	if name, ok := strings.CutPrefix(line, "cd "); ok {
		r.dir = filepath.Join(r.dir, name)
		kept := filepath.Join(tools(r.t), "cargo", "readme")
		if err := os.MkdirAll(kept, 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.Symlink(kept, filepath.Join(r.dir, "target")); err != nil {
			r.t.Fatal(err)
		}
		return ""
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), "sh", "-ec", strings.ReplaceAll(line, "PATH/TO/tunehost", root))
	cmd.Dir = r.dir
	cmd.Env = append(environment(), "PATH="+r.bin+":"+os.Getenv("PATH"), "CARGO_BUILD_JOBS=2",
		"CARGO_PROFILE_RELEASE_OPT_LEVEL=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// Tests the searcher of the README, from an empty folder to its experiment.
func TestReadme(t *testing.T) {
	r := newReader(t)
	r.follow(section(t, "Write a searcher in Rust"))
	if out := r.run("tunehost trials results/experiment"); strings.Count(out, "TERMINATED") != 10 {
		t.Errorf("the experiment has not 10 trials:\n%s", out)
	}
	conformancetest.Program(t, sdk.KindSearcher, filepath.Join(r.dir, "target", "release", "nearby"))
}

// around is the code around the fragments, for a program with both.
const around = `
fn info(name: &'static str) -> Info {
    let options = r#"{"type": "object", "additionalProperties": false, "properties": {}}"#;
    Info { name, version: "1.0.0", summary: "A fragment of the page.", options }
}

struct Cutoff { at: u64, limit: f64 }
struct Fit;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("scheduler") {
        tunehost::scheduler(info("cutoff"), |_: Problem, _: &mut Options| Ok(Cutoff { at: 5, limit: 1.0 }))
    } else {
        tunehost::trainable(info("fit"), |_: &mut Options| Ok(Fit))
    }
}
`

// The fragments of the README compile and pass the suite.
func TestReadmeFragments(t *testing.T) {
	r := newReader(t)
	r.run("cargo new --quiet fragments")
	r.run("cd fragments")
	r.run("cargo add --quiet tunehost --path PATH/TO/tunehost/plugins/sdk/rust")
	fragment := func(heading string) string {
		_, code, _ := strings.Cut(section(t, heading), "```rust\n")
		code, _, _ = strings.Cut(code, "```")
		return code
	}
	code := "#![allow(dead_code, unused_imports)]\nuse tunehost::*;\n" + fragment("A scheduler") +
		fragment("A trainable") + around
	write(t, filepath.Join(r.dir, "src", "main.rs"), []byte(code))
	r.run("cargo build --quiet --release")
	program := filepath.Join(r.dir, "target", "release", "fragments")
	conformancetest.Program(t, sdk.KindScheduler, program, "scheduler")
	conformancetest.Program(t, sdk.KindTrainable, program, "trainable")
}

// environment returns the reader's environment, without the cargo folder that the Makefile sets.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CARGO_TARGET_DIR=") })
}
