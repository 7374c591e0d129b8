//go:build s3

package hosttest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/storage"
)

// bucket is a server of S3's protocol, for a host and its nodes.
type bucket struct {
	url    string
	list   func() []string // the keys of its objects
	mu     sync.Mutex
	wrote  map[string]bool // the access keys with which nodes' files were written
	held   chan struct{}   // closed when the first of them is held back
	letGo  chan struct{}
	holder sync.Once
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	b := &bucket{wrote: map[string]bool{}, held: make(chan struct{}), letGo: make(chan struct{})}
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.look(r)
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	q := url.Values{"endpoint": {server.URL}, "region": {"eu-west-1"}, "use_path_style": {"true"}}
	b.url = "s3://bucket/results?" + q.Encode()
	b.list = func() (keys []string) {
		found, err := backend.ListBucket("bucket", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found.Contents {
			keys = append(keys, o.Key)
		}
		return keys
	}
	return b
}

// look notes who writes files of nodes. The first such write is held back until letGo is closed.
func (b *bucket) look(r *http.Request) {
	path := r.URL.Path
	if r.Method != http.MethodPut || !strings.Contains(path, "/nodes/") || strings.Contains(path, "/mark-") {
		return
	}
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	b.mu.Lock()
	b.wrote[key] = true
	b.mu.Unlock()
	b.holder.Do(func() {
		close(b.held)
		<-b.letGo
	})
}

// credentials are variables of S3's clients.
func credentials(key string) []string {
	return []string{"AWS_EC2_METADATA_DISABLED=true", "AWS_ACCESS_KEY_ID=" + key,
		"AWS_SECRET_ACCESS_KEY=secret-of-" + key, "AWS_MAX_ATTEMPTS=1"}
}

// onBucket writes an experiment whose storage is a bucket, and whose nodes do not see the working directory.
func onBucket(t *testing.T, b *bucket) (x *experiment, e *nodesEngine, env []string) {
	t.Helper()
	needHiding(t)
	x, e = onNodes(t, strings.NewReplacer("every: 10", "every: 2", "sleep: 0.08", "sleep: 0.02").Replace(long)+
		"failures: {lost: 1000}\n")
	e.hidden = filepath.Join(filepath.Dir(x.File), "state")
	if err := os.Mkdir(e.hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	x.Storage = b.url
	return x, e, append(credentials("host"), "XDG_STATE_HOME="+e.hidden, "HOME="+e.hidden)
}

// found sets the working directory, which exists once the host has begun.
func (x *experiment) found(t *testing.T, state string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(state, "tunehost", "*", "test"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	x.dir = list[0]
}

// routes returns what the record says about how checkpoints travel.
func (x *experiment) routes(t *testing.T) (list []core.LeaseRouted) {
	t.Helper()
	d, err := storage.At(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	err = h.Each(func(s *history.Step) error {
		if r, ok := s.Event.(*core.LeaseRouted); ok {
			list = append(list, *r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// B-059: agents write checkpoints to the storage with the credentials of their nodes. The host is killed while the
// first of them is written; the next host continues, and nothing is lost, doubled or left. No secret travels.
func TestHostIsKilledWhileNodesWrite(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	x, e, env := onBucket(t, b)
	e.env = credentials("node")
	p := x.start(t, env...)
	x.await(t, p, func() bool {
		select {
		case <-b.held:
			return true
		default:
			return false
		}
	})
	p.signal(t, syscall.SIGKILL)
	<-p.exit
	close(b.letGo)
	x.start(t, env...).ends(t, 0)
	x.found(t, e.hidden)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
	routes := x.routes(t)
	if len(routes) == 0 || len(b.wrote) != 1 || !b.wrote["node"] {
		t.Errorf("%v; nodes' files were written by %v", routes, b.wrote)
	}
	for _, r := range routes {
		if !r.Direct {
			t.Errorf("%+v", r)
		}
	}
	b.checkWhole(t, x.dir)
	for _, secret := range []string{"secret-of-host", "secret-of-node"} {
		if found := holding(t, e.hidden, secret); len(found) > 0 {
			t.Errorf("%s is in %v", secret, found)
		}
	}
}

// checkWhole checks that the storage has the files of each checkpoint, and no others of nodes.
func (b *bucket) checkWhole(t *testing.T, dir string) {
	t.Helper()
	there, wanted := map[string]bool{}, map[string]bool{}
	for _, key := range b.list() {
		if strings.HasPrefix(key, "results/test/nodes/") {
			there[strings.TrimPrefix(key, "results/test/")] = true
		}
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "trials", "*", "checkpoints", "*", "MANIFEST.json"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, path := range manifests {
		m, err := storage.ReadManifest(filepath.Dir(path))
		if err != nil {
			t.Error(err)
		}
		for _, f := range m.Files {
			wanted[m.Stored+"/"+f.SHA256] = true
		}
	}
	for key := range wanted {
		if !there[key] {
			t.Errorf("the storage lacks %s", key)
		}
	}
	for key := range there {
		if !wanted[key] {
			t.Errorf("the storage has %s, which belongs to no checkpoint", key)
		}
	}
}

// Without credentials on the nodes, checkpoints go through the host; the record and the log say so.
func TestNodesWithoutCredentials(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	x, e, env := onBucket(t, b)
	e.env = []string{"AWS_EC2_METADATA_DISABLED=true", "HOME=/nonexistent"}
	said := x.start(t, env...).ends(t, 0)
	x.found(t, e.hidden)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
	routes, leases := x.routes(t), map[core.LeaseID]bool{}
	for _, r := range routes {
		if r.Direct || leases[r.Lease] || !strings.Contains(r.Why, "credentials") {
			t.Errorf("%+v", r)
		}
		leases[r.Lease] = true
	}
	if len(routes) == 0 || len(b.wrote) > 0 {
		t.Errorf("%v; nodes' files were written by %v", routes, b.wrote)
	}
	if strings.Count(said, "its node has no ") != 1 {
		t.Errorf("it said:\n%s", said)
	}
}
