// Package lazily makes values when they are first needed. Each process of the program initializes all of its packages,
// those of plugins and of agents too: what they do not need then is a large part of a start.
package lazily

import (
	"regexp"
	"sync"
)

// Regexp compiles a regular expression at the first call of what it returns, which panics if that is impossible.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
