package config

import (
	"regexp"
	"sync"
)

// lazily compiles a regular expression when it is first needed. Each process of the program initializes this package,
// those of plugins too, and compiling all expressions would be a tenth of that.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
