// Package pages executes the instructions of a page of documentation literally. Tests use it to
// ensure that the pages are correct.
//
// It executes the fenced blocks of a page, in order. A block of sh is run by sh, in the folder
// where the previous one ended; every command in it must succeed. Any other block whose first line
// is a comment with a file name,
//
//	# experiment.yaml
//	// main.go
//
// is written to that file, in the current folder. Other blocks, such as ```text, are ignored.
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

// A Block is a fenced block.
type Block struct {
	Language, Text string
	// Line is the line of its fence, from 1.
	Line int
}

// File returns the file name in the block's first line, or "".
func (b Block) File() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	if m := fileForm.FindStringSubmatch(first); b.Language != "sh" && m != nil {
		return m[1]
	}
	return ""
}

var fileForm = regexp.MustCompile(`^(?://|#|--) ([\w./-]+\.\w+)$`)

// Blocks returns the blocks under a heading, up to the next heading of the same or a higher level;
// "" selects the whole page. It is an error if there are none.
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

// depthOf returns the level of a heading; 0: the line is not a heading.
func depthOf(line string) int {
	depth := len(line) - len(strings.TrimLeft(line, "#"))
	if depth == 0 || depth == len(line) || line[depth] != ' ' {
		return 0
	}
	return depth
}

// A Runner runs blocks.
type Runner struct {
	// Dir is the folder to begin in, and then that of the moment.
	Dir string
	// Env is the environment of the commands, as NAME=VALUE.
	Env []string
}

// Run executes the blocks, and returns all output of the commands. The error names the line of the
// block that failed.
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

// shell runs a script and remembers its last folder.
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
