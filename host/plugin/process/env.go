package process

import (
	"os"
	"slices"
	"sync/atomic"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve/forks"
)

// inherited are the host's variables that every plugin gets.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment returns what the plugin gets, beside the variables of the handshake. Later entries win.
func (h ThisMachine) environment(p *Program) []string {
	env := slices.Clone(h.Environ)
	if h.Environ == nil {
		env = listed(inherited, p.Inherit)
	}
	if program := forkServer.Load(); program != nil && p.Kind == sdk.KindTrainable {
		env = append(env, forks.Variable+"="+forks.Setting(*program))
	}
	return append(env, p.Env...)
}

// forkServer is the path of a program that serves trainables that fork; nil: there is none.
var forkServer atomic.Pointer[string]

// ServesForks has trainables know that the program at the path passes its arguments to [forks.Main]. An empty path
// changes nothing.
func ServesForks(path string) {
	if path != "" {
		forkServer.Store(&path)
	}
}

// listed returns the variables of this program that lists name.
func listed(lists ...[]string) (env []string) {
	for _, name := range slices.Concat(lists...) {
		if value, ok := lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lookup looks a variable up. PWD is where this program is: only shells set it, so that it may be that of the shell
// which started another program, which started this one.
func lookup(name string) (value string, ok bool) {
	if name == "PWD" {
		if dir, err := os.Getwd(); err == nil {
			return dir, true
		}
	}
	return os.LookupEnv(name)
}
