package loading

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ungranted says which grants of a plugin the experiment file lacks, with the line to write if the
// user agrees.
func ungranted(kind sdk.Kind, name string, p *folder.Plugin, given config.Grant, others bool) error {
	wants := wantsOf(p)
	if covers(given, wants) {
		return nil
	}
	where := "write"
	if others {
		where = "write under grants"
	}
	line := fmt.Sprintf("%s: %s", yamlText(name), flow(union(given, wants)))
	if !others {
		line = "grants: {" + line + "}"
	}
	return fmt.Errorf("%s %q wants more than this file grants; if you agree, %s: %s", kind, name, where, line)
}

// wantsOf returns the grants that a plugin wants, with absolute folders. In the sandbox variables of
// the environment must be granted; a process gets those that its plugin.yaml names.
func wantsOf(p *folder.Plugin) config.Grant {
	w := config.Grant{Read: absolute(p.Dir, p.Wants.Read), Write: absolute(p.Dir, p.Wants.Write), Env: p.Wants.Env,
		Clock: p.Wants.Clock}
	if p.Transport == folder.WASM {
		w.Env = slices.Concat(w.Env, p.Env)
	}
	return w
}

// within makes the folders of a grant absolute.
func within(dir string, g config.Grant) config.Grant {
	g.Read, g.Write = absolute(dir, g.Read), absolute(dir, g.Write)
	return g
}

func absolute(dir string, folders []string) (out []string) {
	for _, f := range folders {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		out = append(out, filepath.Clean(f))
	}
	return out
}

func covers(given, wanted config.Grant) bool {
	return coversFolders(slices.Concat(given.Read, given.Write), wanted.Read) &&
		coversFolders(given.Write, wanted.Write) &&
		!slices.ContainsFunc(wanted.Env, func(v string) bool { return !slices.Contains(given.Env, v) }) &&
		(given.Clock || !wanted.Clock)
}

// coversFolders reports whether each wanted folder is, or is below, a given one.
func coversFolders(given, wanted []string) bool {
	for _, w := range wanted {
		inside := func(g string) bool {
			rel, err := filepath.Rel(g, w)
			return err == nil && filepath.IsLocal(rel)
		}
		if !slices.ContainsFunc(given, inside) {
			return false
		}
	}
	return true
}

func union(a, b config.Grant) config.Grant {
	both := func(x, y []string) []string { return slices.Compact(slices.Sorted(slices.Values(slices.Concat(x, y)))) }
	return config.Grant{Read: both(a.Read, b.Read), Write: both(a.Write, b.Write), Env: both(a.Env, b.Env),
		Clock: a.Clock || b.Clock}
}

// flow writes a grant as YAML on one line.
func flow(g config.Grant) string {
	var parts []string
	for _, x := range []struct {
		key  string
		list []string
	}{{"read", g.Read}, {"write", g.Write}, {"env", g.Env}} {
		if len(x.list) > 0 {
			texts := make([]string, len(x.list))
			for i, s := range x.list {
				texts[i] = yamlText(s)
			}
			parts = append(parts, x.key+": ["+strings.Join(texts, ", ")+"]")
		}
	}
	if g.Clock {
		parts = append(parts, "clock: true")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// yamlText quotes what YAML would not read as a text.
func yamlText(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/_-.", r)
	}
	first := strings.Trim(s[:min(1, len(s))], "/_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	reserved := slices.Contains([]string{"true", "false", "null"}, strings.ToLower(s))
	if s != "" && first == "" && !reserved && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return fmt.Sprintf("%q", s)
}
