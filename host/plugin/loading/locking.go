package loading

import (
	"fmt"

	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
)

// Allowed checks that the plugins are those that an experiment began with.
func (l *Loader) Allowed(d storage.Dir) error {
	locked, err := lockfile.Read(d)
	if err != nil || locked == nil {
		return err
	}
	for _, p := range l.Locked() {
		if err := locked.Allows(p); err != nil {
			return fmt.Errorf("%s: %w", d.Path(), err)
		}
	}
	return nil
}

// Listed checks that the plugins are those of an experiment, as [Loader.Allowed] does, and that its lock lists each
// that does not come with tunehost.
func (l *Loader) Listed(d storage.Dir) error {
	if err := l.Allowed(d); err != nil {
		return err
	}
	locked, err := lockfile.Read(d)
	if err != nil {
		return err
	}
	for _, p := range l.Locked() {
		if p.Path != "" && (locked == nil || !locked.Lists(p)) {
			return fmt.Errorf("%s: tunehost.lock does not list the %s %q, so nobody knows whether %s is what it was; "+
				"without --trust its answers are taken from the record", d.Path(), p.Kind, p.Name, p.Path)
		}
	}
	return nil
}

// Locked returns the plugins as they are recorded.
func (l *Loader) Locked() (list []lockfile.Plugin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.known {
		entry := p.entry()
		entry.Kind = p.kind
		list = append(list, entry)
	}
	return list
}

// Uncovered says for each plugin what it may run that the lock does not list, in a line for the user.
func (l *Loader) Uncovered() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.known {
		if p.Folder == nil {
			continue
		}
		if what := p.Folder.Uncovered(p.sums); what != "" {
			list = append(list, fmt.Sprintf("%s %q: tunehost.lock does not list %s: a change there is not noticed",
				p.kind, p.Name, what))
		}
	}
	return list
}

func (p *Plugin) entry() lockfile.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := lockfile.Plugin{Name: p.Name, Version: p.info.Version, Transport: p.Transport(), SHA256: p.sums.SHA256,
		Files: p.sums.Pinned(), Grants: lockfile.GrantsOf(p.grant)}
	if p.Folder != nil {
		e.Path = p.Folder.Path
	}
	if p.sums.Tree != nil {
		e.Covers = lockfile.WholeFolder
	}
	if p.sums.Beyond() {
		e.Covers = lockfile.FolderAndCommand
	}
	return e
}
