package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Uploads are what the processes of an experiment need on their nodes.
type Uploads struct {
	// Base is the folder of the experiment file. Upload are the names of files and folders in it. Skip is a folder
	// that is not uploaded.
	Base   string
	Upload []string
	Skip   string
	// Large is called with trees of more than 1 GiB. It may be nil.
	Large func(tree string, bytes int64)
	// Sent is called each time that a process starts on a node that does not see Base, with the files
	// that the node has. It may be nil.
	Sent func(names []string, tree *upload.Tree)

	mu     sync.Mutex
	listed map[string]listed         // by folder and names
	first  map[core.LeaseID][]string // where the first bundles of leases have the uploaded files
}

// largeUpload is the size of a tree, in bytes, above which the user gets a warning.
const largeUpload = 1 << 30

// listed is a tree as it was a moment ago. It is kept so that trials that start together do not each read all files.
type listed struct {
	tree   upload.Tree
	digest string
	at     time.Time
}

const listedFor = time.Second

// move makes sure that the node of an agent has everything that a program needs, and returns the
// program with the paths there.
func (c *Uploads) move(ctx context.Context, lease core.LeaseID, s link.Session, what process.Program) (process.Program,
	error) {
	if c == nil {
		return what, nil
	}
	if len(c.Upload) > 0 {
		to, err := c.upload(ctx, s)
		if err != nil {
			return what, fmt.Errorf("upload: %w", err)
		}
		c.remember(lease, to)
		what.Env = append(what.Env[:len(what.Env):len(what.Env)], sdk.BaseDirVariable+"="+to)
		if what.Dir == c.Base {
			what.Dir = to
		}
	}
	if module := moduleOf(what); module != "" {
		return c.moveFolder(ctx, s, what, filepath.Dir(module), filepath.Base(module))
	}
	if len(what.Files) > 0 && filepath.IsAbs(what.Dir) && what.Dir != c.Base { // the folder of a plugin
		return c.moveFolder(ctx, s, what, what.Dir, ".")
	}
	return what, nil
}

// remember keeps where the first bundle of a lease has the uploaded files.
func (c *Uploads) remember(lease core.LeaseID, folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = map[core.LeaseID][]string{}
	}
	if !slices.Contains(c.first[lease], folder) {
		c.first[lease] = append(c.first[lease], folder)
	}
}

// Again makes sure that the node of another bundle of a lease has the uploaded files. It returns where they are there,
// instead of the folders in which the processes of the first bundle have found them.
func (c *Uploads) Again(ctx context.Context, lease core.LeaseID, s link.Session) (moves []Move, err error) {
	if c == nil || len(c.Upload) == 0 {
		return nil, nil
	}
	to, err := c.upload(ctx, s)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range c.first[lease] {
		moves = append(moves, Move{From: from, To: to})
	}
	return moves, nil
}

// upload makes sure that a node has the files of the base, and returns their folder there.
func (c *Uploads) upload(ctx context.Context, s link.Session) (to string, err error) {
	l, err := c.list(c.Base, c.Upload)
	if err != nil {
		return "", err
	}
	to, err = c.ship(ctx, s, &l)
	if err == nil && to != c.Base && c.Sent != nil {
		c.Sent(c.Upload, &l.tree)
	}
	return to, err
}

// moduleOf returns the module that a program runs in the sandbox, or "".
func moduleOf(what process.Program) string {
	var c sandbox.Config
	if len(what.Args) == 2 && what.Args[0] == sandbox.Command && json.Unmarshal([]byte(what.Args[1]), &c) == nil &&
		filepath.IsAbs(c.Path) {
		return c.Path
	}
	return ""
}

// moveFolder sends the content of a folder, and changes the paths of a program to those on the
// node.
func (c *Uploads) moveFolder(ctx context.Context, s link.Session, what process.Program, from, name string) (
	process.Program, error) {
	l, err := c.list(from, []string{name})
	if err != nil {
		return what, err
	}
	to, err := c.ship(ctx, s, &l)
	if err != nil || to == from {
		return what, err
	}
	moved := func(path string) string {
		if path == from {
			return to
		}
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			return filepath.Join(to, rest)
		}
		return path
	}
	what.Path, what.Dir = moved(what.Path), moved(what.Dir)
	args := make([]string, len(what.Args))
	for i, a := range what.Args {
		args[i] = strings.ReplaceAll(moved(a), inJSON(from), inJSON(to))
	}
	files := map[string]string{}
	for path, sum := range what.Files {
		files[moved(path)] = sum
	}
	what.Args, what.Files = args, files
	return what, nil
}

// inJSON returns the beginning of a path in a folder, in JSON.
func inJSON(folder string) string {
	text, _ := json.Marshal(folder + "/")
	return strings.TrimSuffix(string(text), `"`)
}

// ship makes sure that a node has a tree, and returns its folder there.
func (c *Uploads) ship(ctx context.Context, s link.Session, l *listed) (string, error) {
	root := l.tree.Root
	var placed message.Placed
	conn, err := Ask(ctx, s, message.StreamShip, message.Ship{Root: root, Digest: l.digest}, &placed)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if placed.Path != "" {
		return placed.Path, nil
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	sent, err := upload.Send(conn, &l.tree)
	if sent > largeUpload && c.Large != nil {
		c.Large(root, sent)
	}
	if err == nil {
		err = message.Expect(conn, message.Yes, &placed)
	}
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(placed.Path) || filepath.Clean(placed.Path) != placed.Path {
		return "", fmt.Errorf("the agent has put files into %.100q, which is not a folder", placed.Path)
	}
	return placed.Path, nil
}

// list lists a tree, as it is now.
func (c *Uploads) list(root string, names []string) (listed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := listedBy(root, names)
	if l, ok := c.listed[key]; ok && time.Since(l.at) < listedFor {
		return l, nil
	}
	tree, err := upload.Collect(root, names, c.Skip)
	if err != nil {
		return listed{}, err
	}
	l := listed{tree, tree.Digest(), time.Now()}
	if c.listed == nil {
		c.listed = map[string]listed{}
	}
	c.listed[key] = l
	return l, nil
}

// listedBy is the key of a tree: a module may lie beside uploaded files.
func listedBy(root string, names []string) string {
	return strings.Join(append([]string{root}, names...), "\x00")
}
