package python_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// notebook writes a notebook with these cells, and returns its path.
func notebook(t *testing.T, dir, name string, cells ...string) string {
	t.Helper()
	type cell struct {
		Type     string         `json:"cell_type"`
		ID       string         `json:"id"`
		Metadata map[string]any `json:"metadata"`
		Outputs  []any          `json:"outputs"`
		Count    *int           `json:"execution_count"`
		Source   string         `json:"source"`
	}
	kernel := map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"}
	page := struct {
		Cells    []cell         `json:"cells"`
		Metadata map[string]any `json:"metadata"`
		Format   int            `json:"nbformat"`
		Minor    int            `json:"nbformat_minor"`
	}{Metadata: map[string]any{"kernelspec": kernel}, Format: 4, Minor: 5}
	for i, source := range cells {
		page.Cells = append(page.Cells, cell{"code", fmt.Sprintf("cell%d", i), map[string]any{}, []any{}, nil, source})
	}
	text, err := json.Marshal(page)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name+".ipynb")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// execute is the command that runs all cells of a notebook and keeps their output in the file.
func execute(path string) []string {
	return []string{"-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", path}
}

// printed is what the cells of a notebook have printed.
func printed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Cells []struct {
			Outputs []struct {
				Text []string `json:"text"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &page); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, cell := range page.Cells {
		for _, output := range cell.Outputs {
			all.WriteString(strings.Join(output.Text, ""))
		}
	}
	return all.String()
}

// cells are the parts of a script between two empty lines.
func cells(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(script(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n\n\n")
}

// The first example runs in a notebook, cell by cell, and shows the progress there.
func TestNotebook(t *testing.T) {
	toolchain.NeedPython(t, "nbconvert", "ipykernel")
	w := installedWheel(t)
	dir := t.TempDir()
	path := notebook(t, dir, "example", cells(t, "example.py")...)
	must(t, w.command(dir, execute(path)...))
	out := printed(t, path)
	for _, part := range []string{"\nbest 0.0", "20 terminated"} {
		if !strings.Contains(out, part) {
			t.Errorf("the notebook does not print %q but\n%s", part, out)
		}
	}
}

// In a notebook, results and the progress reporter are tables; what trials have is text in them.
func TestNotebookTables(t *testing.T) {
	toolchain.NeedPython(t, "nbconvert", "ipykernel")
	w := installedWheel(t)
	dir := t.TempDir()
	path := notebook(t, dir, "tables", `
from tunehost import tune
def train(config):
    tune.report({"loss": config["x"]})
reporter = tune.JupyterNotebookReporter(max_report_frequency=0)
results = tune.Tuner(train, param_space={"x": tune.grid_search([3, 2]), "name": "<b>bold</b>"},
                     tune_config=tune.TuneConfig(metric="loss", mode="min"),
                     run_config=tune.RunConfig(progress_reporter=reporter)).fit()
`, "results")
	must(t, w.command(dir, execute(path)...))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<tr><th>Trial name</th><th>status</th><th>x</th>",
		"<tr><th>trial</th><th>state</th><th>iteration</th><th>loss</th>",
		"<td>1</td><td>2</td><td>2</td><td>&lt;b&gt;bold&lt;/b&gt;</td></tr><tr><td>", `"ResultGrid(`,
	} {
		if !strings.Contains(unescaped(string(text)), part) {
			t.Errorf("the notebook lacks %s:\n%s", part, text)
		}
	}
}

// unescaped has < and > where JSON has their numbers.
func unescaped(text string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text)
}

// B-080: a notebook whose kernel is killed in the middle goes on in another kernel.
func TestNotebookKilled(t *testing.T) {
	toolchain.NeedPython(t, "nbconvert", "ipykernel")
	w := installedWheel(t)
	dir := t.TempDir()
	setup := "import os, sys; sys.argv = ['long.py', '%s']; open('kernel', 'w').write(str(os.getpid()))"
	long := cells(t, "long.py")
	run := w.command(dir, execute(notebook(t, dir, "run", append([]string{fmt.Sprintf(setup, "run")}, long...)...))...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the first trials' results", func() bool { return results(dir) >= 12 })
	pid, err := os.ReadFile(filepath.Join(dir, "kernel"))
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := strconv.Atoi(string(pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(kernel, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err == nil {
		t.Fatal("the kernel was not killed")
	}
	w.awaitInterrupted(t, dir)
	before := results(dir)
	path := notebook(t, dir, "restore", append([]string{fmt.Sprintf(setup, "restore")}, long...)...)
	must(t, w.command(dir, execute(path)...))
	checkContinued(t, before, printed(t, path))
}

// Trainables of every form work where they are defined in a script, in a module and in a notebook; what they print and
// log is in their files; arrays of with_parameters are mapped.
func TestWays(t *testing.T) {
	toolchain.NeedPython(t, "nbconvert", "ipykernel")
	w := installedWheel(t)
	dir := t.TempDir()
	must(t, exec.Command("cp", script(t, "ways.py"), dir))
	const want = "ways 10 True"
	for _, args := range [][]string{{"ways.py"}, {"-c", "import ways; ways.main()"}} {
		if out := must(t, w.command(dir, args...)); !strings.Contains(out, want) {
			t.Errorf("%v prints\n%s", args, out)
		}
	}
	path := notebook(t, dir, "ways", cells(t, "ways.py")...)
	must(t, w.command(dir, execute(path)...))
	if out := printed(t, path); !strings.Contains(out, want) {
		t.Errorf("the notebook prints\n%s", out)
	}
}
