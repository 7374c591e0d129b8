// Mutants plants bugs, one at a time, and checks whether the tests find them. The bugs are in
// mutants.txt, each with a piece of code and its replacement. The tree is not changed: the go
// command gets the modified file as an overlay.
//
//	go run ./internal/mutants                 # all of them
//	go run ./internal/mutants -run publish    # those whose name matches
//
// If no test finds a bug, a test is missing. Use it when you change the core, the journal, the loop
// or the supervision.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed mutants.txt
var list string

// everywhere lists the packages to test: the ones that find most bugs in the shortest time come
// first.
var everywhere = [][]string{
	{"./core/..."},
	{"./host/plugin", "./host/storage/...", "./host/plugin/process"},
	{"./host"},
	{"./host/hosttest/..."},
}

func main() {
	only := flag.String("run", "", "only bugs whose name fits this expression")
	limit := flag.Duration("limit", 10*time.Minute, "how long the tests may look for one bug")
	flag.Parse()
	if err := run(*only, *limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(only string, limit time.Duration) error {
	fits, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := parse(list)
	if err != nil {
		return err
	}
	var missed error
	tried, found := 0, 0
	for _, m := range all {
		if !fits.MatchString(m.name) {
			continue
		}
		tried++
		switch ok, err := m.hunt(limit); {
		case ok:
			found++
		case err != nil:
			fmt.Printf("%-50s NOT PLANTED\n", m.name)
			missed = errors.Join(missed, fmt.Errorf("%s: %w", m.name, err))
		default:
			missed = errors.Join(missed, fmt.Errorf("no test finds: %s", m.name))
		}
	}
	fmt.Printf("%d bugs, %d found\n", tried, found)
	return missed
}

// A mutant is a bug: in a file, old becomes new.
type mutant struct {
	name, file, old, new string
	// first are the packages that are tested first.
	first []string
}

// parse reads blocks of lines: "# name", the file and optionally packages, then lines that begin
// with - and with +.
func parse(text string) (all []mutant, err error) {
	for block := range strings.SplitSeq(text, "\n# ") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		if len(lines) < 4 || all == nil && !strings.HasPrefix(block, "# ") {
			if all == nil {
				all = []mutant{} // text before the first block is a comment
				continue
			}
			return nil, fmt.Errorf("mutants.txt: %q is no bug", lines[0])
		}
		where := strings.Fields(lines[1])
		m := mutant{name: lines[0], file: where[0], first: where[1:]}
		for _, l := range lines[2:] {
			switch {
			case strings.HasPrefix(l, "-"):
				m.old += l[1:] + "\n"
			case strings.HasPrefix(l, "+"):
				m.new += l[1:] + "\n"
			case l != "":
				return nil, fmt.Errorf("mutants.txt: %s: %q begins with neither - nor +", m.name, l)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// mutated returns the file with the bug.
func (m *mutant) mutated() ([]byte, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 || m.old == "" {
		return nil, fmt.Errorf("%s has the lines to change %d times, want once: the code has moved on, "+
			"and mutants.txt must too", m.file, n)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

// hunt reports whether a test finds the bug.
func (m *mutant) hunt(limit time.Duration) (bool, error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	for _, packages := range append([][]string{m.first}, everywhere...) {
		if len(packages) == 0 {
			continue
		}
		by, err := try(ctx, overlay, packages)
		if err != nil {
			return false, err
		}
		if by != "" {
			fmt.Printf("%-50s found in %4.0f s by %s\n", m.name, time.Since(began).Seconds(), by)
			return true, nil
		}
	}
	fmt.Printf("%-50s NOT FOUND in %.0f s\n", m.name, time.Since(began).Seconds())
	return false, nil
}

// forget removes failures that rapid has stored since: they belong to a bug that is not in the
// tree.
func forget(since time.Time) {
	_ = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".fail" {
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(since) {
			_ = os.Remove(path)
		}
		return nil
	})
}

// overlay writes the overlay for the go command.
func (m *mutant) overlay(dir string) (string, error) {
	text, err := m.mutated()
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	to, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {from: to}})
	return overlay, errors.Join(err, os.WriteFile(to, text, 0o600), os.WriteFile(overlay, b, 0o600))
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^panic: |^FAIL\s+(\S+)`)

// try runs tests with the bug, and returns the failed one. A hang counts as found.
func try(ctx context.Context, overlay string, packages []string) (by string, err error) {
	build := exec.CommandContext(ctx, "go", append([]string{"vet", "-overlay", overlay}, packages...)...)
	if out, err := build.CombinedOutput(); err != nil && ctx.Err() == nil {
		return "", fmt.Errorf("the bug does not compile: %s", out)
	}
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-failfast", "-timeout", cutOff.String(), "-overlay",
		overlay}, packages...)...)
	test.WaitDelay = time.Second
	began := time.Now()
	out, err := test.CombinedOutput()
	forget(began)
	if err == nil || ctx.Err() != nil {
		return "", nil
	}
	if by, err := judge(out); by != "" || err != nil {
		return by, err
	}
	return "", fmt.Errorf("go test: %w: %s", err, out)
}

// judge returns the test that failed or hangs. If the tests were cut off while all of them were
// still young, nothing was found: the machine was too busy.
func judge(out []byte) (by string, err error) {
	for _, f := range failure.FindAllSubmatch(out, -1) {
		if len(f[1]) > 0 {
			return string(f[1]), nil
		}
		by = strings.TrimSpace(string(f[0]))
	}
	if !bytes.Contains(out, []byte("panic: test timed out")) {
		return by, nil
	}
	for _, f := range running.FindAllSubmatch(out, -1) {
		if d, err := time.ParseDuration(string(f[2])); err == nil && d >= hangs {
			return string(f[1]) + ", which hangs", nil
		}
	}
	return "", fmt.Errorf("the tests have not ended within %v, and none of them hangs: the machine is too busy", cutOff)
}

// cutOff is the time limit for the tests of a package; a test that has run for hangs by then counts
// as hanging.
const cutOff, hangs = 4 * time.Minute, 2 * time.Minute

// running matches a test that ran when its package was cut off.
var running = regexp.MustCompile(`(?m)^\t\t(\S+) \((\S+)\)$`)
