package nodefiles

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// bundles are the nodes of the bundles of a lease. A checkpoint may still be removed from one while others are added.
type bundles struct {
	mu  sync.Mutex
	all []*nodes
}

func (b *bundles) Session(ctx context.Context, l core.LeaseID, i int) (link.Session, error) {
	b.mu.Lock()
	n := b.all[i]
	b.mu.Unlock()
	return n.Session(ctx, l, i)
}

func (b *bundles) add(n *nodes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, n)
}

// gangPlace is a place whose lease has further nodes.
type gangPlace struct {
	*place
	all []*nodes
}

// madeGang has a trial on nodes with the names; none of them sees the host's files.
func madeGang(t *testing.T, restore bool, names ...string) *gangPlace {
	t.Helper()
	return madeGangWith(t, "", restore, names...)
}

// madeGangWith is madeGang for an experiment whose storage is a URL, or "".
func madeGangWith(t *testing.T, url string, restore bool, names ...string) *gangPlace {
	t.Helper()
	p := madeWith(t, true, url)
	if restore {
		p.save(t, 1, "saved")
	}
	g := &gangPlace{p, []*nodes{p.nodes}}
	for range names[1:] {
		a := agent.New(agent.Options{Mark: local.NewMark(t.TempDir()), Dir: real(t)})
		n := &nodes{blind: true, agent: a}
		g.all = append(g.all, n)
		p.lease.add(n)
		t.Cleanup(n.close)
	}
	t.Cleanup(p.files.Close) // first
	p.trial = &sdk.Trial{Dir: p.dir, Params: []byte(`{"x":1}`)}
	for _, name := range names {
		p.trial.Bundles = append(p.trial.Bundles, sdk.Bundle{Node: name})
	}
	if restore {
		p.trial.Restore = storage.RestoredDir(p.dir, 1)
	}
	if err := p.files.Prepare(p.at, p.trial); err != nil {
		t.Fatal(err)
	}
	if restore {
		if err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, 1), p.trial.Restore, nil); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// program is what rank 0 wants to be started.
func (g *gangPlace) program() process.Program {
	return process.Program{Path: "/bin/sh", Args: []string{g.trial.Dir + "/run.sh", "--in=" + g.trial.Dir},
		Dir: g.trial.Dir, Env: []string{"TUNEHOST_CHECKPOINT_DIR=" + g.trial.Dir + "/.checkpoints",
			"TUNEHOST_CHECKPOINT=" + g.trial.Restore, "OTHER=" + g.trial.Dir + "x"}}
}

// Programs of other ranks find on their nodes what rank 0 has: the parameters, the checkpoint, folders for checkpoints.
// Paths are those there.
func TestPlace(t *testing.T) {
	t.Parallel()
	g := madeGang(t, true, "a", "b", "c")
	for bundle := 1; bundle < 3; bundle++ {
		x := g.program()
		s, err := g.files.Place(t.Context(), 3, bundle, &x)
		if err != nil || s != g.all[bundle].sessions[0] {
			t.Fatal(s, err)
		}
		dir := filepath.Join(g.all[bundle].agent.Dir, "trials", filepath.Base(g.dir))
		restored := strings.Replace(g.trial.Restore, g.trial.Dir, dir, 1)
		want := g.program()
		want.Dir, want.Args = dir, []string{dir + "/run.sh", "--in=" + dir}
		want.Env = []string{"TUNEHOST_CHECKPOINT_DIR=" + dir + "/.checkpoints", "TUNEHOST_CHECKPOINT=" + restored,
			"OTHER=" + g.trial.Dir + "x"}
		if fmt.Sprint(x) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", x, want)
		}
		has(t, filepath.Join(dir, "params.json"), "{\"x\":1}\n")
		has(t, filepath.Join(restored, "model", "weights"), "saved")
		if info, err := os.Stat(filepath.Join(dir, ".checkpoints")); err != nil || !info.IsDir() {
			t.Errorf("no folder for checkpoints: %v", err)
		}
	}
	if err := g.files.Discard(g.at, g.trial.Restore); err != nil {
		t.Error(err)
	}
	for _, n := range g.all {
		left, _ := filepath.Glob(filepath.Join(n.agent.Dir, "trials", "*", "checkpoints", "restored", "*"))
		if len(left) > 0 {
			t.Errorf("copies are left: %v", left)
		}
	}
}

// A node is sent a checkpoint once, however many bundles it has: their programs share a directory.
func TestPlaceOnOneNode(t *testing.T) {
	t.Parallel()
	g := madeGang(t, true, "a", "b", "b", "b")
	for _, n := range g.all[1:] {
		n.sees = []string{g.all[1].agent.Dir, g.all[2].agent.Dir, g.all[3].agent.Dir}
	}
	var busy sync.WaitGroup
	dirs := make([]string, 4)
	for bundle := 1; bundle < 4; bundle++ {
		busy.Go(func() {
			x := g.program()
			if _, err := g.files.Place(t.Context(), 3, bundle, &x); err != nil {
				t.Error(err)
			}
			dirs[bundle] = x.Dir
		})
	}
	busy.Wait()
	if dirs[1] != dirs[2] || dirs[2] != dirs[3] || dirs[1] == g.trial.Dir {
		t.Errorf("%q", dirs)
	}
}

// Checkpoints have what each rank has written into the folder on its node. Of two files, that of the lower rank counts.
func TestParts(t *testing.T) {
	t.Parallel()
	g := madeGang(t, false, "a", "b", "c")
	g.takesParts(t)
	if _, err := g.files.Commit(g.item(2), storage.Manifest{Trial: 1}); err != nil {
		t.Fatal(err)
	}
	files := storage.CheckpointFiles(g.dir, 2)
	has(t, filepath.Join(files, "meta"), "0")
	has(t, filepath.Join(files, "shards", "part2"), "2")
	g.lists(t)
}

// takesParts takes a checkpoint with a part of rank 2.
func (g *gangPlace) takesParts(t *testing.T) {
	t.Helper()
	dirs := []string{g.trial.Dir}
	for bundle := 1; bundle < 3; bundle++ {
		x := g.program()
		if _, err := g.files.Place(t.Context(), 3, bundle, &x); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, x.Dir)
	}
	write(t, filepath.Join(dirs[0], ".checkpoints", "five", "meta"), "0")
	write(t, filepath.Join(dirs[2], ".checkpoints", "five", "shards", "part2"), "2")
	write(t, filepath.Join(dirs[2], ".checkpoints", "five", "meta"), "not this")
	write(t, filepath.Join(dirs[1], ".checkpoints", "other", "part1"), "none of five")
	path := filepath.Join(dirs[0], ".checkpoints", "five")
	if done, err := g.files.Take(g.item(2), path, false); !done || err != nil {
		t.Fatal(done, err)
	}
}

// lists checks the files of that checkpoint.
func (g *gangPlace) lists(t *testing.T) {
	t.Helper()
	m, err := storage.ReadManifest(storage.CheckpointDir(g.dir, 2))
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Path)
	}
	if slices.Sort(names); err != nil || strings.Join(names, " ") != "meta shards/part2" {
		t.Errorf("%v, %v", names, err)
	}
}

// A path cannot be a file of one rank and a folder of another: nobody could restore that.
func TestPartsThatExcludeEachOther(t *testing.T) {
	parts := []part{{files: []storage.File{{Path: "a-b"}, {Path: "shards"}}},
		{bundle: 1, files: []storage.File{{Path: "shards/1/x"}}}}
	if _, _, err := union(parts); err == nil || err.Error() != "shards is a file of one rank and a folder of another" {
		t.Error(err)
	}
}

// What the host knows of gangs does not grow with their number.
func TestGangsAreForgotten(t *testing.T) {
	t.Parallel()
	g := madeGang(t, false, "a", "b", "c")
	g.takesParts(t)
	kept := func() int {
		g.files.mu.Lock()
		defer g.files.mu.Unlock()
		return len(g.files.gangs)
	}
	for i := range 5 {
		next := *g.trial
		next.Dir = filepath.Join(filepath.Dir(g.dir), fmt.Sprintf("%05d_next", i))
		if err := g.files.Prepare(g.at, &next); err != nil {
			t.Fatal(err)
		}
	}
	if n := kept(); n != 3 {
		t.Errorf("%d are kept; want the current one, the last, and the one whose checkpoint is not committed", n)
	}
	if _, err := g.files.Commit(g.item(2), storage.Manifest{Trial: 1}); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(storage.CheckpointFiles(g.dir, 2), "shards", "part2"), "2")
	for _, n := range g.all {
		n.end()
	}
	testplace.Soon(t, "the end of the lease", func() bool { return kept() == 0 })
}

// A bundle that the trial does not have, or whose node is lost, is an error.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	g := madeGang(t, false, "a", "b")
	for _, bundle := range []int{-1, 0, 2} {
		x := g.program()
		if _, err := g.files.Place(t.Context(), 3, bundle, &x); err == nil {
			t.Errorf("bundle %d was found", bundle)
		}
	}
	g.all[1].gone = errors.New("the lease is lost")
	x := g.program()
	_, err := g.files.Place(t.Context(), 3, 1, &x)
	if err == nil || !strings.Contains(err.Error(), "the lease is lost") {
		t.Errorf("%v", err)
	}
	if _, err := g.files.Place(t.Context(), 4, 1, &x); err == nil {
		t.Error("a lease without a trial has a place")
	}
}

// Uploaded files are at other places on each node.
func TestPlaceUploads(t *testing.T) {
	t.Parallel()
	g := madeGang(t, false, "a", "b")
	g.files.Uploads = func(_ context.Context, l core.LeaseID, s link.Session) ([]remote.Move, error) {
		if l != 3 || s != g.all[1].sessions[0] {
			t.Errorf("lease %d, %v", l, s)
		}
		return []remote.Move{{From: "/here/files/0", To: "/there/files/7"}}, nil
	}
	x := process.Program{Path: "/here/files/0/run", Args: []string{"/here/files/01", "-I/here/files/0:/here/files/0/a"}}
	if _, err := g.files.Place(t.Context(), 3, 1, &x); err != nil {
		t.Fatal(err)
	}
	want := []string{"/here/files/01", "-I/there/files/7:/there/files/7/a"}
	if x.Path != "/there/files/7/run" || !slices.Equal(x.Args, want) {
		t.Errorf("%+v", x)
	}
}
