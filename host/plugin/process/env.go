package process

import "os"

// inherited are the variables of the host's that every plugin gets.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment is what the plugin sees, beside the handshake's variables. Later
// entries win.
func environment(c *Config) []string {
	var env []string
	for _, names := range [][]string{inherited, c.Inherit} {
		for _, name := range names {
			if value, ok := os.LookupEnv(name); ok {
				env = append(env, name+"="+value)
			}
		}
	}
	return append(env, c.Env...)
}
