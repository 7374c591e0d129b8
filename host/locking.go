package host

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/host/lockfile"
	"github.com/tunehost/tunehost/host/storage"
)

// findPlugins finds the experiment's plugins, and holds them against those that it
// began with. None is started before.
func (s *session) findPlugins() (err error) {
	if s.loader != nil {
		return nil // a rig's, found before
	}
	if s.loader, err = newLoader(s.options.Plugins, s.experiment, dirOf(s.file.File)); err != nil {
		return err
	}
	if err := errors.Join(s.loader.check(refsOf(s.experiment))...); err != nil {
		return &UserError{err}
	}
	if s.lock == nil || s.options.AcceptPlugins {
		return nil
	}
	if locked, err := lockfile.Read(s.dir); err == nil && locked != nil && locked.Tunehost != Version() {
		s.log.Info(fmt.Sprintf("tunehost.lock was written by tunehost %s, this is %s", locked.Tunehost, Version()))
	}
	if err := s.loader.allowed(s.dir); err != nil {
		return &UserError{err}
	}
	return nil
}

// allowed says whether the plugins are those that an experiment began with.
func (l *loader) allowed(d storage.Dir) error {
	locked, err := lockfile.Read(d)
	if err != nil || locked == nil {
		return err
	}
	for _, p := range l.locked() {
		if err := locked.Allows(p); err != nil {
			return fmt.Errorf("%s: %w", d.Path(), err)
		}
	}
	return nil
}

// locked are the plugins as they are recorded.
func (l *loader) locked() (list []lockfile.Plugin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.known {
		entry := p.entry()
		entry.Kind = p.kind
		list = append(list, entry)
	}
	return list
}

func (p *loaded) entry() lockfile.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := lockfile.Plugin{Name: p.Name, Version: p.info.Version, Transport: p.Transport(), SHA256: p.sums.SHA256, Files: p.sums.Files, Grants: lockfile.GrantsOf(p.grant)}
	if p.Folder != nil {
		e.Path = p.Folder.Path
	}
	return e
}

// writeLock records the plugins that the experiment goes on with, once they have
// been opened.
func (s *session) writeLock() error {
	if s.lock == nil {
		return nil
	}
	now := lockfile.New(Version(), s.loader.locked())
	if before, err := lockfile.Read(s.dir); err == nil && before != nil && before.Same(now) {
		return nil
	}
	return now.Write(s.dir)
}
