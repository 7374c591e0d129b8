package lattice

import (
	"flag"
	"path"
	"slices"
	"strings"
	"testing"
)

var draw = flag.Bool("draw", false, "draw the levels of host/ (with -v)")

// levels are the rooms of host/, the highest first: a room imports only rooms of lines below its
// own. A room is a folder in host/ with all that is in it; "host" is the package itself.
var levels = []string{
	"serve",
	"host, asktell, simulate, hosttest",
	"compose",
	"prepare",
	"holding, show, validate",
	"options, trials",
	"inherit, replay, steer",
	"attempt, opening, unrecorded",
	"plot, report",
	"view",
	"consult, exec",
	"agent",
	"plugin",
	"engine, local",
	"storage",
	"config, scaffold",
	"clock, deadlines, hostlog, inbox, jsontext, machine, nearest, queue, smallheap, untrusted, usererror, web",
}

// room is the room of a folder; "" where it is outside of host/.
func room(dir string) string {
	parts := strings.Split(dir, "/")
	switch {
	case parts[0] != "host":
		return ""
	case len(parts) == 1:
		return "host"
	}
	return parts[1]
}

// levelOf is the line of a room in levels; -1: none has it.
func levelOf(room string) int {
	return slices.IndexFunc(levels, func(line string) bool {
		return slices.Contains(strings.Split(line, ", "), room)
	})
}

// upward says what is wrong with an import between two folders; "" where nothing is.
func upward(from, to string) string {
	a, b := room(from), room(to)
	if a == "" || b == "" || a == b {
		return ""
	}
	switch x, y := levelOf(a), levelOf(b); {
	case x < 0:
		return a + " has no level"
	case y < 0:
		return b + " has no level"
	case x >= y:
		return a + " may import only rooms below its level"
	}
	return ""
}

// Arrows between the rooms of host/ go down only. With -draw and -v the test prints what each
// room imports.
func TestLevels(t *testing.T) {
	arrows := map[string][]string{}
	for file, imports := range files(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		from := path.Dir(file)
		for _, name := range imports {
			to, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			if why := upward(from, to); why != "" {
				t.Errorf("%s imports %s: %s", file, to, why)
			}
			if r := room(to); r != "" && r != room(from) && !slices.Contains(arrows[room(from)], r) {
				arrows[room(from)] = append(arrows[room(from)], r)
			}
		}
	}
	if *draw {
		t.Log(drawing(arrows))
	}
}

// drawing shows each level with what its rooms import.
func drawing(arrows map[string][]string) string {
	var b strings.Builder
	for _, line := range levels {
		b.WriteString("\n")
		for r := range strings.SplitSeq(line, ", ") {
			slices.SortFunc(arrows[r], func(x, y string) int {
				if c := levelOf(x) - levelOf(y); c != 0 {
					return c
				}
				return strings.Compare(x, y)
			})
			b.WriteString(r + " -> " + strings.Join(arrows[r], ", ") + "\n")
		}
	}
	return b.String()
}

// TestUpward shows that arrows that go up are found.
func TestUpward(t *testing.T) {
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"host/view", "host/steer/unixsock", true}, {"host/steer", "host/view", false},
		{"host/storage/mirror", "host/storage", false}, {"host/compose", "host", true}, {"host", "host/compose", false},
		{"host/simulate", "host/asktell", true}, {"host/nowhere", "host/clock", true}, {"cmd/tunehost", "host", false},
	} {
		if got := upward(c.from, c.to); (got != "") != c.bad {
			t.Errorf("%s imports %s: %q", c.from, c.to, got)
		}
	}
}
