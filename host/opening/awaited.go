package opening

import (
	"slices"
	"strings"
	"sync"
)

// awaited tells which of the plugins that open at the same time are not open yet.
type awaited struct {
	tell func(what string)

	mu    sync.Mutex
	names []string
}

// during opens a plugin.
func (a *awaited) during(name string, open func()) {
	a.change(func() { a.names = append(a.names, name) })
	open()
	a.change(func() {
		i := slices.Index(a.names, name)
		a.names = slices.Delete(a.names, i, i+1)
	})
}

func (a *awaited) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
	if len(a.names) > 0 {
		a.tell(strings.Join(a.names, ", "))
	}
}
