package argv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNotFound is the reason without details.
var errNotFound = notFound{}

// errNoName: it would be a folder of PATH.
var errNoName = errors.New("the program has no name: the first part of a command is its program, as in " +
	"[python3, train.py]")

type notFound struct{}

func (notFound) Error() string        { return "there is no such program" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// Absolute makes the name of an existing file in base absolute; a program must not be a folder. A
// program with a path that does not exist still stays relative to base.
func Absolute(t Template, base string, isProgram bool) Template {
	arg := t[0]
	if !t.IsPlain() || arg == "" || filepath.IsAbs(arg) {
		return t
	}
	path := filepath.Join(base, arg)
	info, err := os.Stat(path)
	switch {
	case isProgram && (strings.Contains(arg, "/") || err == nil && info.Mode().IsRegular()):
		return Template{path}
	case !isProgram && err == nil:
		return Template{path}
	}
	return t
}

// Program is [Absolute] for a program without placeholders.
func Program(name, base string) string {
	if abs, err := filepath.Abs(base); err == nil {
		base = abs
	}
	return Absolute(Template{name}, base, true)[0]
}

// Find returns the file of name, searched in path, the program's own PATH.
func Find(name, path string) (string, error) {
	switch {
	case name == "":
		return "", errNoName
	case strings.Contains(name, "/"), name == ".", name == "..":
		return name, check(name)
	}
	var found error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // like os/exec: never a program of the current directory
		}
		file := filepath.Join(dir, name)
		err := check(file)
		if err == nil {
			return file, nil
		}
		if found == nil && !errors.Is(err, fs.ErrNotExist) {
			found = err
		}
	}
	if found == nil {
		found = fmt.Errorf("%w beside the experiment file or in PATH", errNotFound)
	}
	return "", found
}

// xOK asks whether this user may execute a file.
const xOK = 1

func check(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: %w", file, syscall.EISDIR)
	case info.Mode().Perm()&0o111 == 0 || syscall.Access(file, xOK) != nil:
		return fmt.Errorf("%s: not executable: %w", file, syscall.EACCES)
	}
	return nil
}

// CannotStart says which program cannot start, why and what to do.
func CannotStart(program string, err error) error {
	return fmt.Errorf("cannot start %q (trainable.command): %w%s", program, err, advice(err))
}

func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "; it is not a program: put its interpreter first, as in [python3, train.py], or a #! line in it"
	case errors.Is(err, syscall.EACCES):
		return "; make it executable (chmod +x) or put its interpreter first, as in [python3, train.py]"
	case errors.Is(err, fs.ErrNotExist):
		return "; check the spelling, install it, or write its whole path"
	case errors.Is(err, syscall.EISDIR):
		return "; write the path of a program in it"
	case errors.Is(err, syscall.E2BIG):
		return "; its arguments and environment are too long: read the parameters from {params}"
	case errors.Is(err, syscall.EINVAL):
		return "; an argument or variable holds a zero byte: read the parameters from {params}"
	}
	return ""
}

// Command parses a command; names of files in it are relative to base. The error of an argument has
// its index.
func Command(args []string, base string, known func(name string) bool) ([]Template, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	out := make([]Template, len(args))
	for i, arg := range args {
		t, err := Parse(arg, known)
		if err != nil {
			return nil, fmt.Errorf("command: argument %d: %w", i, err)
		}
		out[i] = Absolute(t, base, i == 0)
	}
	return out, nil
}
