package batch

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// found returns the match of a pattern: its first group, or all of it.
func found(re *regexp.Regexp, text string) string {
	m := re.FindStringSubmatch(text)
	switch {
	case m == nil:
		return ""
	case len(m) > 1:
		return m[1]
	}
	return m[0]
}

// find returns the id of a lease's job; "" if there is none. It is called only after the answer
// of submit was lost.
func (e *executor) find(ctx context.Context, name string, l *lease) (string, error) {
	e.mu.Lock()
	id := l.ID
	e.mu.Unlock()
	if id != "" {
		return id, nil
	}
	ids, err := e.listed(ctx, name)
	if err != nil {
		return "", err
	}
	if own := e.begunID(name); own != "" {
		ids = append([]string{own}, slices.DeleteFunc(ids, func(id string) bool { return id == own })...)
	}
	if len(ids) == 0 || ids[0] == "" {
		return "", nil
	}
	for _, double := range ids[1:] {
		if err := e.cancelJob(ctx, double); err != nil {
			return "", err
		}
	}
	return ids[0], e.owns(name, ids[0])
}

// owns records the job of a lease. A job belongs to one lease: two leases of one job would have two
// agents where only one runs.
func (e *executor) owns(name, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for other, l := range e.leases {
		if l.ID == id && other != name {
			return fmt.Errorf("job %s already belongs to lease %s, and not to %s too: "+
				"check that submit (option id) and list tell the jobs apart", id, other, name)
		}
	}
	if l := e.leases[name]; l != nil {
		l.ID, l.Began, l.gone = id, time.Now().UnixNano(), 0
	}
	return e.store.write(e.leases)
}

// listed returns the ids of the jobs with a name, as far as the batch system can list them.
func (e *executor) listed(ctx context.Context, name string) (ids []string, err error) {
	if !e.canList {
		return nil, nil
	}
	words, err := e.list.expand(values{"name": {name}})
	if err != nil {
		return nil, err
	}
	o, err := e.run(ctx, e.store.dir, words)
	if err != nil {
		return nil, err
	}
	if o.status != 0 && !e.saysEnded(o) {
		return nil, o.failed(o.exited())
	}
	for line := range strings.Lines(o.out) {
		own := e.list.uses("name") || slices.Contains(strings.Fields(line), name)
		if id := found(e.listedAs, line); own && id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// begunID returns the id that a job of the lease has written at its beginning, or "".
func (e *executor) begunID(name string) string {
	note := e.store.note(name + begunSuffix + "/id")
	if note == nil {
		return ""
	}
	if id := found(e.id, note[0]); id != "" {
		return id
	}
	id := strings.TrimSpace(note[0]) // the pattern may be for what submit prints around it
	if strings.ContainsAny(id, " \t") {
		return ""
	}
	return id
}
