package process

import (
	"os"
	"slices"
)

// inherited are the host's variables that every plugin gets.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment returns what the plugin gets, beside the variables of the handshake. Later entries win.
func (h ThisMachine) environment(p *Program) []string {
	env := slices.Clone(h.Environ)
	if h.Environ == nil {
		env = listed(inherited, p.Inherit)
	}
	return append(env, p.Env...)
}

// listed returns the variables of this program that lists name.
func listed(lists ...[]string) (env []string) {
	for _, name := range slices.Concat(lists...) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
