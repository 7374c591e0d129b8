package nodefiles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// gang is a trial whose programs may run on several nodes of its lease.
type gang struct {
	lease  core.LeaseID
	host   string   // the trial's directory on the host
	first  string   // the trial's directory where rank 0 runs
	params []byte   // of the trial
	nodes  []string // the nodes of the bundles
	// checkpoint is what the trial continues from, and restore is the copy of it where rank 0 runs; "": it begins anew.
	checkpoint, restore string

	mu    sync.Mutex
	turns map[string]*sync.Mutex // by node: its bundles are made ready one after another
	dirs  map[int]string         // the trial's directory for the programs of other bundles, by bundle
	own   map[int]bool           // bundles whose directory no earlier bundle sees
	parts map[uint32][]int       // bundles that have parts of a checkpoint, by the checkpoint's id
}

// gangKey identifies an attempt's gang: checkpoints may still be fetched when the lease has the next trial, so that the
// last gang of a lease is kept beside its current one.
type gangKey struct {
	lease core.LeaseID
	host  string
}

// assemble begins a gang. x has the paths of rank 0's node.
func (f *Files) assemble(lease core.LeaseID, host string, x *sdk.Trial) {
	g := &gang{lease: lease, host: host, first: x.Dir, params: x.Params, turns: map[string]*sync.Mutex{},
		dirs: map[int]string{}, own: map[int]bool{}, parts: map[uint32][]int{}}
	for _, b := range x.Bundles {
		g.nodes = append(g.nodes, b.Node)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.current[lease]
	maps.DeleteFunc(f.gangs, func(key gangKey, old *gang) bool {
		return key.lease == lease && old != last && !old.saving()
	})
	f.gangs[gangKey{lease, host}], f.current[lease] = g, g
}

// saving reports whether parts of a checkpoint are not committed yet.
func (g *gang) saving() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.parts) > 0
}

// saved forgets the parts of a checkpoint.
func (f *Files) saved(x attempt.Item) {
	if g := f.ofItem(x); g != nil {
		g.mu.Lock()
		delete(g.parts, x.ID)
		g.mu.Unlock()
	}
}

// gangOf returns the gang that uses a lease; nil: none does.
func (f *Files) gangOf(lease core.LeaseID) *gang {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current[lease]
}

// Place implements remote.Ranks. The node of the bundle gets what rank 0's node has got: the uploaded files, the
// trial's directory with its parameters, and the checkpoint that the trial continues from.
func (f *Files) Place(ctx context.Context, lease core.LeaseID, bundle int, p *process.Program) (link.Session, error) {
	g := f.gangOf(lease)
	if g == nil || bundle < 1 || bundle >= len(g.nodes) {
		return nil, fmt.Errorf("the trial has no bundle %d", bundle)
	}
	dir, err := f.join(g, bundle, p)
	if err != nil {
		return nil, fmt.Errorf("the files of the trial cannot be sent to its node: %w", err)
	}
	s, err := f.Sessions.Session(ctx, lease, bundle)
	if err != nil {
		return nil, err
	}
	moves := []remote.Move{{From: g.first, To: dir}}
	if f.Uploads != nil {
		uploads, err := f.Uploads(ctx, lease, s)
		if err != nil {
			return nil, fmt.Errorf("uploaded files cannot be sent to its node: %w", err)
		}
		moves = append(moves, uploads...)
	}
	remote.Rewrite(p, moves)
	return s, nil
}

// join makes the trial's directory ready for the program of a bundle, once, and returns it.
func (f *Files) join(g *gang, bundle int, p *process.Program) (dir string, err error) {
	turn := g.turn(bundle)
	turn.Lock()
	defer turn.Unlock()
	g.mu.Lock()
	dir = g.dirs[bundle]
	g.mu.Unlock()
	if dir != "" {
		return dir, nil
	}
	s, n, err := f.bundle(g.lease, bundle)
	if err != nil {
		return "", err
	}
	dir, own := g.host, false
	if !n.shared {
		if dir, own = f.seen(g, s, bundle), false; dir == "" {
			dir, own = n.dir(g.host), true
			err = f.equip(g, s, n, bundle, p)
		}
	}
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	g.dirs[bundle], g.own[bundle] = dir, own
	g.mu.Unlock()
	return dir, nil
}

func (g *gang) turn(bundle int) *sync.Mutex {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.turns[g.nodes[bundle]]
	if t == nil {
		t = &sync.Mutex{}
		g.turns[g.nodes[bundle]] = t
	}
	return t
}

// equip gives a node a directory of the trial, with the folders that the program's variables name in it.
func (f *Files) equip(g *gang, s link.Session, n node, bundle int, p *process.Program) error {
	_, err := f.ask(s, message.Files{Op: message.OpMake, Trial: trialOf(g.host), Params: g.params,
		Folders: foldersIn(g.first, p)})
	if err != nil || g.restore == "" {
		return err
	}
	return f.fetch(copying{lease: g.lease, bundle: bundle, checkpoint: g.checkpoint, trial: trialOf(g.host),
		path: g.there(g.restore, n.dir(g.host))})
}

// there converts a path in the trial's directory of rank 0 to the one in another directory.
func (g *gang) there(path, dir string) string {
	if rel, err := filepath.Rel(g.first, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(dir, rel)
	}
	return path
}

// foldersIn are the folders below a directory that a program expects to be there: those for checkpoints and models.
func foldersIn(dir string, p *process.Program) (folders []string) {
	for _, name := range []string{"TUNEHOST_CHECKPOINT_DIR=", "TUNEHOST_EXPORT_DIR="} {
		for _, v := range p.Env {
			path, ok := strings.CutPrefix(v, name)
			if rel, err := filepath.Rel(dir, path); ok && err == nil && filepath.IsLocal(rel) {
				folders = append(folders, rel)
			}
		}
	}
	return folders
}

// seen returns the directory of the trial that a bundle shares with an earlier one, because both are on one node or
// their nodes share a file system; "": there is none.
func (f *Files) seen(g *gang, s link.Session, bundle int) string {
	g.mu.Lock()
	dirs := map[int]string{0: g.first}
	for i, node := range g.nodes {
		if g.own[i] && node == g.nodes[bundle] {
			dirs[i] = g.dirs[i]
		}
	}
	g.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(dirs)) {
		other, n, err := f.bundle(g.lease, i)
		if err == nil && !n.shared && f.sees(s, other) {
			return dirs[i]
		}
	}
	return ""
}

// sees reports whether an agent sees the files of another one.
func (f *Files) sees(s, other link.Session) bool {
	token := rand.Text()
	dir, err := f.ask(other, message.Files{Op: message.OpMake, Trial: ".seen", Params: []byte("{}"),
		Folders: []string{token}})
	if err != nil {
		return false
	}
	defer func() {
		_, _ = f.ask(other, message.Files{Op: message.OpRemove, Trial: ".seen", Path: filepath.Join(dir, token)})
	}()
	var found message.Probed
	conn, err := remote.Ask(f.until, s, message.StreamProbe, message.Probe{Path: filepath.Join(dir, token)}, &found)
	if err != nil {
		return false
	}
	return conn.Close() == nil && found.Folder
}

// forget removes the copies of a checkpoint from the nodes of the other ranks. path is the copy of rank 0.
func (f *Files) forget(lease core.LeaseID, path string) {
	f.mu.Lock()
	var own []*gang
	for key, g := range f.gangs {
		if key.lease == lease && g.restore == path {
			own = append(own, g)
		}
	}
	f.mu.Unlock()
	for _, g := range own {
		for bundle, dir := range g.owners() {
			f.removeAt(lease, bundle, trialOf(g.host), g.there(path, dir))
		}
	}
}

// removeAt removes a path from the node of a bundle, if the node is still there.
func (f *Files) removeAt(lease core.LeaseID, bundle int, trial, path string) {
	if s, _, err := f.bundle(lease, bundle); err == nil {
		_, _ = f.ask(s, message.Files{Op: message.OpRemove, Trial: trial, Path: path})
	}
}

// owners are the bundles with a directory of their own.
func (g *gang) owners() map[int]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	dirs := map[int]string{}
	for i := range g.own {
		if g.own[i] {
			dirs[i] = g.dirs[i]
		}
	}
	return dirs
}

// ofItem returns the gang that makes an item; nil: it is made on one node.
func (f *Files) ofItem(x attempt.Item) *gang {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gangs[gangKey{x.Place.Lease, x.Dir}]
}

// takeParts stages what other ranks have written for a checkpoint into the folder that rank 0 has named.
func (f *Files) takeParts(x attempt.Item, path string) error {
	g := f.ofItem(x)
	if g == nil {
		return nil
	}
	rel := path
	if filepath.IsAbs(path) {
		var err error
		if rel, err = filepath.Rel(g.first, path); err != nil || !filepath.IsLocal(rel) {
			return nil // it is in no directory of the trial
		}
	}
	owners := g.owners()
	var with []int
	for _, bundle := range slices.Sorted(maps.Keys(owners)) {
		s, _, err := f.bundle(g.lease, bundle)
		if err == nil {
			_, err = f.ask(s, message.Files{Op: message.OpTake, Trial: trialOf(x.Dir), ID: x.ID,
				Path: filepath.Join(owners[bundle], rel)})
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		with = append(with, bundle)
	}
	if len(with) > 0 {
		g.mu.Lock()
		g.parts[x.ID] = with
		g.mu.Unlock()
	}
	return nil
}

// partsOf are the bundles that have parts of a checkpoint.
func (f *Files) partsOf(x attempt.Item) []int {
	g := f.ofItem(x)
	if g == nil || x.Format != "" {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parts[x.ID]
}
