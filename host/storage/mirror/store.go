package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Store is the place of one experiment in a bucket or a shared directory.
type Store struct {
	bucket bucket
	url    string
	opened place

	mu    sync.Mutex
	lacks []string // see Lacks
}

// IsURL reports whether a storage is a URL, not a directory.
func IsURL(storage string) bool { return strings.Contains(storage, "://") }

// Join returns the URL of an experiment in a storage.
func Join(storage, name string) string {
	u, err := url.Parse(storage)
	if err != nil {
		return storage
	}
	u.Path = path.Join("/", u.Path, name)
	return u.String()
}

// Canonical returns one URL for all that name the same experiment, to be compared: without what other letters, an order
// of parameters, doubled slashes or links make of it.
func Canonical(experiment string) string {
	u, err := url.Parse(experiment)
	if err != nil {
		return experiment
	}
	u.Path, u.RawPath, u.RawQuery = path.Clean("/"+u.Path), "", u.Query().Encode()
	if u.Scheme == "file" {
		u.Path = filepath.ToSlash(storage.Real(filepath.FromSlash(u.Path)))
	}
	return u.String()
}

// Name returns the name of the experiment at a URL, or the URL where it names none.
func Name(experiment string) string {
	_, name, err := Split(experiment)
	if err != nil {
		return experiment
	}
	return name
}

// Split is the reverse of Join.
func Split(experiment string) (storage, name string, err error) {
	u, err := url.Parse(experiment)
	if err != nil {
		return "", "", err
	}
	u.Path = path.Clean(u.Path)
	name = path.Base(u.Path)
	if name == "/" || name == "." {
		return "", "", fmt.Errorf("%s: it names no experiment; write %s/NAME", experiment,
			strings.TrimSuffix(experiment, "/"))
	}
	u.Path = path.Dir(u.Path)
	return u.String(), name, nil
}

// OpenToRead is Open for readers: it does not make a missing directory, but returns [ErrNone].
func OpenToRead(ctx context.Context, experiment string) (*Store, error) {
	if dir, ok := Directory(experiment); ok {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", experiment, ErrNone)
		}
	}
	return Open(ctx, experiment)
}

// Directory returns the path of a storage that is a directory (file://…).
func Directory(storage string) (path string, ok bool) {
	u, err := url.Parse(storage)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return "", false
	}
	return u.Path, true
}

// Open opens the store of an experiment, named by its URL. The store's client takes its credentials
// from the environment and its own files.
func Open(ctx context.Context, experiment string) (*Store, error) {
	u, err := parse(experiment)
	if err != nil {
		return nil, err
	}
	b, err := openBucket(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", experiment, err)
	}
	return &Store{bucket: b, url: experiment, opened: placeOf(b)}, nil
}

// parse checks what nobody else does.
func parse(experiment string) (*url.URL, error) {
	u, err := url.Parse(experiment)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, fmt.Errorf("%s: a storage URL must not contain a user or password, since it is written to files; "+
			"put them where the store's own tools look for them", u.Redacted())
	}
	if u.Scheme == "file" && (u.Host != "" || !path.IsAbs(u.Path)) {
		return nil, fmt.Errorf("%s: expected a whole path after file://, such as file:///mnt/results", experiment)
	}
	if u.Scheme == "file" && u.RawQuery != "" {
		return nil, fmt.Errorf("%s: a shared directory has no parameters; remove ?%s", experiment, u.RawQuery)
	}
	return u, needsClient(experiment, u.Scheme)
}

// openBucket opens a directory, or the part of a cloud's bucket that has an experiment's objects.
func openBucket(ctx context.Context, u *url.URL) (bucket, error) {
	if u.Scheme == "file" {
		dir := filepath.FromSlash(path.Clean(u.Path))
		if err := storage.CheckStore(dir); err != nil {
			return nil, err
		}
		return openDirectory(dir)
	}
	whole := *u
	whole.Path = ""
	return openCloud(ctx, whole.String(), strings.Trim(path.Clean("/"+u.Path), "/"))
}

// URL returns the URL of the experiment.
func (s *Store) URL() string { return s.url }

// Close closes the store.
func (s *Store) Close() error { return s.bucket.close() }

// Exists reports whether the store holds an experiment.
func (s *Store) Exists(ctx context.Context) (bool, error) { return s.has(ctx, experimentFile) }

func (s *Store) has(ctx context.Context, key string) (bool, error) {
	_, err := s.bucket.changed(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, s.explain(err)
}

// ErrNone says that the store has nothing under a name.
var ErrNone = errors.New("it is not there")

func (s *Store) get(ctx context.Context, key string) ([]byte, error) {
	r, err := s.bucket.open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", Join(s.url, key), ErrNone)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return text, s.explain(err)
}

func (s *Store) put(ctx context.Context, key string, content []byte) error {
	return s.write(ctx, key, bytes.NewReader(content))
}

// putNew writes a new object; it returns false if the object exists.
func (s *Store) putNew(ctx context.Context, key string, content []byte) (bool, error) {
	err := s.bucket.write(ctx, key, bytes.NewReader(content), true)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, s.explain(err)
}

// putPart writes a piece of a file.
func (s *Store) putPart(ctx context.Context, key, file string, from, to int64) error {
	f, err := nolink.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.write(ctx, key, io.NewSectionReader(f, from, to-from))
}

// write writes an object completely or not at all.
func (s *Store) write(ctx context.Context, key string, from io.Reader) error {
	return s.explain(s.bucket.write(ctx, key, from, false))
}

func (s *Store) delete(ctx context.Context, key string) error {
	err := s.bucket.delete(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.explain(err)
}

// list returns the objects whose keys begin with prefix, in the order of the keys.
func (s *Store) list(ctx context.Context, prefix string) ([]object, error) {
	found, err := s.bucket.list(ctx, prefix)
	return found, s.explain(err)
}

// sizes returns the objects in a folder, with their sizes.
func (s *Store) sizes(ctx context.Context, folder string) (map[string]int64, error) {
	list, err := s.list(ctx, folder+"/")
	found := map[string]int64{}
	for _, o := range list {
		found[o.key] = o.size
	}
	return found, err
}

func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	return &shortError{s.url + ": " + inShort(err), err}
}

// Experiments returns the URLs of the experiments in a storage; of one experiment its own.
func Experiments(ctx context.Context, url string) (urls []string, err error) {
	s, err := OpenToRead(ctx, url)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	gone, err := s.hasLost(ctx)
	if err != nil {
		return nil, err
	}
	if one, err := s.Exists(ctx); err != nil || one || gone {
		return []string{url}, err
	}
	names, err := Names(ctx, url)
	for _, name := range names {
		urls = append(urls, Join(url, name))
	}
	return urls, err
}

// Names returns the names of the experiments in a storage, also of those that have lost their file.
func Names(ctx context.Context, storage string) (names []string, err error) {
	s, err := OpenToRead(ctx, storage)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	folders, err := s.bucket.folders(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	for _, name := range folders {
		there, err := s.has(ctx, name+"/"+experimentFile)
		if err == nil && !there {
			there, err = lost(ctx, Join(storage, name))
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) { // a folder of somebody else
			return nil, err
		}
		if there {
			names = append(names, name)
		}
	}
	return names, nil
}
