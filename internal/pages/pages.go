// Package pages runs what a page of documentation tells its readers to do, word
// for word: tests of the pages use it, so that no page says what does not work.
//
// In a page, fenced blocks count, in order. A block of sh is run by sh, from the
// folder in which the one before has left off; every command in it must succeed.
// Any other block whose first line is a comment with a file's name,
//
//	# experiment.yaml
//	// main.go
//
// is that file, written into the folder of that moment. Other blocks, such as
// ```text, are for people alone.
package pages

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Block is a fenced block.
type Block struct {
	Language, Text string
	// Line is that of its fence, from 1.
	Line int
}

// File is the name in the block's first line, or "".
func (b Block) File() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	if m := fileForm.FindStringSubmatch(first); b.Language != "sh" && m != nil {
		return m[1]
	}
	return ""
}

var fileForm = regexp.MustCompile(`^(?://|#|--) ([\w./-]+\.\w+)$`)

// Blocks are those under a heading, up to the next of its level or a higher one;
// under "" those of the whole page. It is an error when there are none.
func Blocks(page, heading string) (list []Block, err error) {
	inside, level, open := heading == "", 0, false
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```") && open:
			open = false
		case strings.HasPrefix(line, "```"):
			open = true
			if inside {
				list = append(list, Block{Language: strings.TrimPrefix(line, "```"), Line: i + 1})
			}
		case open && inside:
			list[len(list)-1].Text += line + "\n"
		case !open && heading != "":
			if depth := depthOf(line); depth > 0 {
				named := strings.TrimSpace(strings.TrimLeft(line, "#")) == heading
				inside = named || inside && depth > level
				if named {
					level = depth
				}
			}
		}
	}
	if open {
		return nil, errors.New("a fenced block has no end")
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there are no fenced blocks under %q", heading)
	}
	return list, nil
}

// depthOf is the level of a heading; 0: the line is none.
func depthOf(line string) int {
	depth := len(line) - len(strings.TrimLeft(line, "#"))
	if depth == 0 || depth == len(line) || line[depth] != ' ' {
		return 0
	}
	return depth
}

// Runner runs blocks.
type Runner struct {
	// Dir is the folder to begin in, and then that of the moment.
	Dir string
	// Env is the environment of the commands, as NAME=VALUE.
	Env []string
}

// Run carries the blocks out, and returns all that the commands printed. The error
// names the line of the block that failed.
func (r *Runner) Run(blocks []Block) (output string, err error) {
	for _, b := range blocks {
		var out string
		if b.Language == "sh" {
			out, err = r.shell(b.Text)
		} else if name := b.File(); name != "" {
			err = r.write(name, b.Text)
		}
		output += out
		if err != nil {
			return output, fmt.Errorf("the block in line %d: %w", b.Line, err)
		}
	}
	return output, nil
}

func (r *Runner) write(name, text string) error {
	file := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// shell runs a script and remembers where it has gone.
func (r *Runner) shell(script string) (string, error) {
	where, err := os.CreateTemp("", "pages-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(where.Name()) }()
	_ = where.Close()
	cmd := exec.Command("sh", "-eu", "-c", "trap 'pwd >\"$PAGES_DIR\"' EXIT\n"+script)
	cmd.Dir = r.Dir
	cmd.Env = append(r.Env, "PAGES_DIR="+where.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%w\n%s", err, out)
	}
	dir, err := os.ReadFile(where.Name())
	if err == nil {
		r.Dir = strings.TrimSpace(string(dir))
	}
	return string(out), err
}
