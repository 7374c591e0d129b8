//go:build s3

package nodefiles

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
)

// bucket is a server of S3's protocol. puts counts the objects of nodes that are written; fail, if set, is called
// before each, and refuses it if it returns true.
type bucket struct {
	url  string
	puts atomic.Int64
	fail func(n int64) bool
	keys func() []string
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "well-kept",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	b, s3 := &bucket{}, gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if r.Method == http.MethodPut && strings.Contains(p, "/nodes/") && !strings.Contains(p, "/mark-") {
			if n := b.puts.Add(1); b.fail != nil && b.fail(n) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	q := url.Values{"endpoint": {server.URL}, "region": {"eu-west-1"}, "use_path_style": {"true"}}
	b.url = "s3://bucket/results/name?" + q.Encode()
	b.keys = func() (keys []string) {
		list, err := backend.ListBucket("bucket", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Contents {
			keys = append(keys, o.Key)
		}
		return keys
	}
	return b
}

// saveTwo has a trial save two files as its checkpoint.
func (p *place) saveTwo(t *testing.T, id uint32) {
	t.Helper()
	dir, _, err := p.files.Stage(p.item(id), false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "model", "weights"), "w")
	write(t, filepath.Join(dir, "optimizer"), "o")
	if n, err := p.files.Commit(p.item(id), storage.Manifest{Trial: 1, Attempt: 2}); err != nil || n != 2 {
		t.Fatal(n, err)
	}
}

// restores checks that the checkpoint comes to the node.
func (p *place) restores(t *testing.T, id uint32) {
	t.Helper()
	if err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, id), p.trial.Restore, nil); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(p.trial.Restore, "model", "weights"), "w")
	has(t, filepath.Join(p.trial.Restore, "optimizer"), "o")
}

func (p *place) isAway(id uint32) bool {
	_, err := os.Lstat(storage.CheckpointFiles(p.dir, id))
	return err != nil
}

// B-059: a node that reaches the storage writes checkpoints there and reads them, and they do not come to the host.
// The record says so once.
func TestNodeUsesTheStorage(t *testing.T) {
	b := newBucket(t)
	p := madeWith(t, true, b.url)
	for id := uint32(1); id <= 2; id++ {
		p.saveTwo(t, id)
		if !p.isAway(id) {
			t.Error("the files came to the host")
		}
	}
	p.restores(t, 2)
	if !p.isAway(2) {
		t.Error("the files came through the host")
	}
	want := "&{Lease:3 Direct:true Why:}"
	if len(p.told) != 1 || p.told[0] != want {
		t.Errorf("told %q, want %s", p.told, want)
	}
	for _, key := range b.keys() {
		if !strings.HasPrefix(key, "results/name/nodes/") || !strings.Contains(key, "-2-3/") {
			t.Errorf("the storage has %s", key)
		}
	}
	// A trial that continues on the host's machine has the files, too.
	here := filepath.Join(t.TempDir(), "here")
	if err := p.files.here.Fetch(p.at, storage.CheckpointDir(p.dir, 2), here, nil); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(here, "optimizer"), "o")
}

// Without credentials, checkpoints go over the connection, which the record and the log say once, in one line. What
// other nodes have written comes through the host.
func TestNodeWithoutCredentials(t *testing.T) {
	b := newBucket(t)
	p := madeWith(t, true, b.url)
	p.saveTwo(t, 1)
	p.nodes.noStore = true
	p.at.Lease = 4
	_ = p.nodes.sessions[0].Close() // it has a connection of its own
	for id := uint32(2); id <= 3; id++ {
		p.saveTwo(t, id)
		if p.isAway(id) {
			t.Error("the files did not come to the host")
		}
		p.restores(t, id)
	}
	p.restores(t, 1)
	want := "&{Lease:3 Direct:true Why:} &{Lease:4 Direct:false Why:no credentials}"
	if got := strings.Join(p.told, " "); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if said := p.log.String(); strings.Count(said, "no credentials") != 1 {
		t.Errorf("said %s", said)
	}
}

// A storage that fails in the middle leaves nothing of the checkpoint there, and none of it is lost: the checkpoint
// goes over the connection.
func TestStorageFails(t *testing.T) {
	b := newBucket(t)
	b.fail = func(n int64) bool { return n >= 2 }
	p := madeWith(t, true, b.url)
	p.saveTwo(t, 1)
	if p.isAway(1) {
		t.Error("the files did not come to the host")
	}
	if keys := b.keys(); len(keys) > 0 {
		t.Errorf("the storage has %q", keys)
	}
	p.restores(t, 1)
	if len(p.told) != 2 || !strings.Contains(p.told[1], "Direct:false Why:no access to s3://bucket/results/name: ") {
		t.Errorf("told %q", p.told)
	}
	// For a while it is not tried again. Then it is, and works.
	b.fail = nil
	p.saveTwo(t, 2)
	if p.isAway(2) {
		t.Error("it was tried again at once")
	}
	p.files.route(p.nodes.sessions[len(p.nodes.sessions)-1]).again = time.Now()
	p.saveTwo(t, 3)
	if !p.isAway(3) {
		t.Error("it was not tried again")
	}
	p.restores(t, 3)
	if len(p.told) != 3 || !strings.Contains(p.told[2], "Direct:true") {
		t.Errorf("told %q", p.told)
	}
}

// A connection that breaks in the middle costs nothing: the next one to the same agent continues, and no file is
// written twice.
func TestConnectionIsLostWhileTheNodeWrites(t *testing.T) {
	b := newBucket(t)
	p := madeWith(t, true, b.url)
	var refused atomic.Int64
	b.fail = func(n int64) bool {
		if n == 2 { // and so the second file of two is not written
			refused.Add(1)
			_ = p.nodes.sessions[len(p.nodes.sessions)-1].Close()
			return true
		}
		return false
	}
	p.saveTwo(t, 1)
	if !p.isAway(1) || refused.Load() != 1 || b.puts.Load() > 4 || len(p.nodes.sessions) < 2 {
		t.Errorf("away %v, %d writes, %d connections", p.isAway(1), b.puts.Load(), len(p.nodes.sessions))
	}
	p.restores(t, 1)
}

// An agent that is lost in the middle leaves no checkpoint, and nothing in the storage that counts.
func TestAgentIsLostWhileItWrites(t *testing.T) {
	b := newBucket(t)
	p := madeWith(t, true, b.url)
	b.fail = func(int64) bool {
		p.nodes.mu.Lock()
		defer p.nodes.mu.Unlock()
		_ = p.nodes.sessions[len(p.nodes.sessions)-1].Close()
		p.nodes.gone = errors.New("the lease is lost")
		return true
	}
	dir, _, err := p.files.Stage(p.item(1), false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "weights"), "w")
	if _, err := p.files.Commit(p.item(1), storage.Manifest{Trial: 1, Attempt: 2}); err == nil {
		t.Error("a checkpoint was committed")
	}
	if _, err := storage.ReadManifest(storage.CheckpointDir(p.dir, 1)); err == nil {
		t.Error("there is a manifest")
	}
	if keys := b.keys(); len(keys) > 1 { // the mark, perhaps, until the next host
		t.Errorf("the storage has %q", keys)
	}
}

// B-059: each node writes its part of a checkpoint to the storage, and nothing of it comes to the host. The storage has
// no file that the checkpoint does not have.
func TestPartsInTheStorage(t *testing.T) {
	b := newBucket(t)
	g := madeGangWith(t, b.url, false, "a", "b", "c")
	g.takesParts(t)
	if n, err := g.files.Commit(g.item(2), storage.Manifest{Trial: 1, Attempt: 2}); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if !g.isAway(2) {
		t.Error("the files came to the host")
	}
	g.lists(t)
	if keys := b.keys(); len(keys) != 2 {
		t.Errorf("the storage has %v", keys)
	}
	restored := storage.RestoredDir(g.trial.Dir, 2)
	if err := g.files.Fetch(g.at, storage.CheckpointDir(g.dir, 2), restored, nil); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(restored, "meta"), "0")
	has(t, filepath.Join(restored, "shards", "part2"), "2")
	for _, n := range g.all {
		testplace.Soon(t, "nothing left on the nodes", func() bool {
			left, _ := filepath.Glob(filepath.Join(n.agent.Dir, "trials", "*", "checkpoints", "*", "*", "*"))
			return len(slices.DeleteFunc(left, func(p string) bool { return strings.HasPrefix(p, restored) })) == 0
		})
	}
}

// If one node cannot use the storage, the whole checkpoint goes over the connection.
func TestPartWithoutStorage(t *testing.T) {
	b := newBucket(t)
	g := madeGangWith(t, b.url, false, "a", "b", "c")
	g.all[2].noStore = true
	g.takesParts(t)
	if _, err := g.files.Commit(g.item(2), storage.Manifest{Trial: 1, Attempt: 2}); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(storage.CheckpointFiles(g.dir, 2), "shards", "part2"), "2")
	g.lists(t)
	if len(g.told) == 0 || !strings.Contains(g.told[len(g.told)-1], "Direct:false") {
		t.Errorf("told %q", g.told)
	}
}
