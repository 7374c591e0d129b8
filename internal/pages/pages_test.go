package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "# Top\n\n```sh\nexit 9\n```\n\n## Do it\n\n```sh\nmkdir sub\ncd sub\n```\n\n```yaml\n# a.yaml\nx: " +
	"1\n```\n\n" +
	"```text\nnot run\n```\n\n### Then\n\n```sh\n# a comment\ncat a.yaml\n```\n\n## Other\n\n```sh\nexit 8\n```\n"

func TestRun(t *testing.T) {
	blocks, err := Blocks(page, "Do it")
	if err != nil || len(blocks) != 4 {
		t.Fatalf("%+v %v", blocks, err)
	}
	dir := t.TempDir()
	r := &Runner{Dir: dir, Env: os.Environ()}
	out, err := r.Run(blocks)
	if err != nil || out != "# a.yaml\nx: 1\n" {
		t.Errorf("%q %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub", "a.yaml")); err != nil {
		t.Error(err)
	}
}

func TestFailures(t *testing.T) {
	blocks, err := Blocks(page, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&Runner{Dir: t.TempDir(), Env: os.Environ()}).Run(blocks)
	if err == nil || !strings.Contains(err.Error(), "the block in line 3: exit status 9") {
		t.Errorf("a block that fails: %v", err)
	}
	_, err = (&Runner{Dir: t.TempDir(), Env: os.Environ()}).Run([]Block{{Language: "sh", Text: "false\ntrue\n",
		Line: 7}})
	if err == nil {
		t.Error("a command that fails before another is no failure")
	}
	for _, heading := range []string{"Nothing", "exit 9"} {
		if _, err := Blocks(page, heading); err == nil {
			t.Errorf("blocks under %q", heading)
		}
	}
	if _, err := Blocks("```sh\ntrue\n", ""); err == nil {
		t.Error("a block without an end")
	}
}
