package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Option changes how a file is read.
type Option func(*settings)

type settings struct {
	sets        []string
	noTrainable bool
	reading     int
	// flags maps the settings that come from command-line flags to these flags.
	flags map[string]string
	place Place
}

// placeOf returns the place of a setting for messages: what the user wrote.
func (s *settings) placeOf(set string) string {
	if flag, ok := s.flags[set]; ok {
		return flag
	}
	return setPrefix + set
}

// Reading is the newest version of the reading rules. A new version may change what a file means or
// refuse more; a recorded experiment keeps the version that it began with.
//
//	1: lists are constants; {value: X} is a group with a parameter "value"
//	2: a list is a mistake; {value: X} is a constant; code pasted from other tuners is a mistake
//	3: without a searcher it is auto; it was random
//	4: points take their own combinations of a grid; they took its first ones
//	5: a constraint or a condition that takes too many steps, or overflows, is an error; the constraint held, and the
//	   condition did not. In a list in brackets within braces a:b is a text; it was a map. A form whose numbers lack
//	   brackets, {uniform: 0, 1}, is a mistake; it was a group of constants.
//	   Combinations of a grid that conditions and constraints rule out are no trials; points beyond trials are planned
//	6: a constraint that divides by zero, or is not a number, is false; it held. A list has no value where an item
//	   has none, also for plugins. A grid whose combinations cannot be
//	   told within a limit is a mistake; its trials were all combinations. Whole numbers above 2^53, or that do not
//	   fit where they are kept, and names of metrics that no result can have are mistakes. A point that is refused
//	   by a constraint over random numbers is tried again with new ones; it kept the first
//	7: a trial to which a scheduler gives other parameters has the random numbers of the trial from which it
//	   continues, where they do not depend on what changed; it had others, the same after each such change. A form
//	   with a map of constants, {int: {lower: 0, upper: 9}}, is a mistake; it was a group of constants. A point takes
//	   the choice that is written as its value is, 1.0 of 1 and 1.0; it took the first that is equal
const Reading = 7

// The versions that brought the rules that are asked for.
const (
	strictReading   = 2
	searcherReading = 3
	gridReading     = 4
	faultReading    = 5
	colonReading    = 5
	bareReading     = 5
	cellReading     = 5
	definedReading  = 6
	limitReading    = 6
	boundReading    = 6
	drawReading     = 6
	keptReading     = 7
	listReading     = 7
	exactReading    = 7
)

// Recorded reads a file by that version of the reading rules; 0 is the first.
func Recorded(reading int) Option {
	return func(s *settings) { s.reading = max(reading, 1) }
}

// WithSet applies KEY=VALUE over the file: KEY is a path of names joined with dots, VALUE is YAML.
// Later settings win.
func WithSet(sets ...string) Option {
	return func(s *settings) { s.sets = append(s.sets, sets...) }
}

// WithFlag applies a command-line flag over the file: it sets the key of the same name to a text.
func WithFlag(key, value string) Option {
	return func(s *settings) {
		set := key + "=" + jsonText(value)
		if s.flags == nil {
			s.flags = map[string]string{}
		}
		s.sets, s.flags[set] = append(s.sets, set), "--"+key+" "+value
	}
}

// jsonText quotes a text for a file.
func jsonText(text string) string {
	var b bytes.Buffer
	writeText(&b, text)
	return b.String()
}

// WithoutTrainable accepts files without a trainable, for asktell and simulate.
func WithoutTrainable() Option {
	return func(s *settings) { s.noTrainable = true }
}

// inDirectory says what to do about a directory where a file is expected.
func inDirectory(path string) string {
	if _, err := os.Stat(filepath.Join(path, "run.json")); err == nil {
		return "; `tunehost resume " + untrusted.Word(path) + "` continues the experiment in it"
	}
	return ""
}

// Load reads an experiment file. The error is [Errors] unless the file cannot be
// read at all.
func Load(path string, options ...Option) (*Experiment, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w; name an experiment file", path, syscall.ENOENT)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s: found a directory, expected an experiment file%s", path, inDirectory(path))
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 && !isDescriptor(path):
		return nil, fmt.Errorf("%s: found a pipe or a socket, which may never end; write the experiment to a "+
			"file, "+
			"or hand it over as /dev/stdin or <(COMMAND)", path)
	case info.Size() > maxFileBytes:
		return nil, Errors{{Pos{File: path}, fmt.Sprintf("the file has %d bytes, the limit is %d (1 MiB)", info.Size(),
			maxFileBytes)}}
	}
	data, err := readSome(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, options...)
}

// isDescriptor reports whether a path names a descriptor that a shell opened for this process, as for
// `<(COMMAND)`.
func isDescriptor(path string) bool {
	dir := filepath.Dir(filepath.Clean(path))
	return path == "/dev/stdin" || dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/") && filepath.Base(dir) == "fd"
}

// readSome reads up to one byte more than a file may have: pipes and devices do not report their size
// and may never end.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// Parse reads an experiment; name is the file's name for messages and the experiment's default name.
// The error is [Errors].
func Parse(name string, data []byte, options ...Option) (*Experiment, error) {
	set := settings{reading: Reading}
	for _, o := range options {
		o(&set)
	}
	p := &problems{mapsInLists: set.reading < colonReading, unbounded: set.reading < boundReading}
	root := readYAML(p, name, data)
	if root == nil || root.kind == nullKind && len(p.errs) > 0 {
		return nil, p.err()
	}
	if root.kind == nullKind {
		p.fail(Pos{File: name}, "the file is empty, expected an experiment")
		return nil, p.err()
	}
	if root.kind == mapKind {
		for _, s := range set.sets {
			override(p, root, set.reading, s, set.placeOf(s))
		}
	}
	root = set.place.file(root)
	e := build(p, root, &set)
	if err := p.err(); err != nil {
		return nil, err
	}
	e.File, e.Source, e.Overrides, e.Warnings = name, data, set.sets, p.warnings.tidy()
	e.tree, e.reading, e.Place = root, set.reading, set.place
	if e.Name == "" {
		e.Name = baseName(name)
		e.FormerName = formerName(name, e.Name)
	}
	return e, nil
}

// baseName derives the name of an experiment from that of its file.
func baseName(file string) string {
	return nameOf(file, func(r rune) bool { return nameForm().MatchString("_" + string(r)) })
}

// formerName returns the default name of earlier versions, which kept only ASCII letters and digits;
// "" where it is the same.
func formerName(file, now string) string {
	ascii := func(r rune) bool { return r < utf8.RuneSelf && nameForm().MatchString("_"+string(r)) }
	if former := nameOf(file, ascii); former != now {
		return former
	}
	return ""
}

func nameOf(file string, keeps func(rune) bool) string {
	base := filepath.Base(strings.ReplaceAll(file, `\`, "/"))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	clean := strings.Map(func(r rune) rune {
		if keeps(r) {
			return r
		}
		return '_'
	}, base)
	clean = strings.TrimRight(clean, " .")
	if !isName(clean) {
		return "experiment"
	}
	return clean
}
