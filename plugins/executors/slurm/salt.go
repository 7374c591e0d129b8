package slurm

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/internal/plainfile"
)

const (
	saltFile = "salt"
	// saltBytes are of the file, and nameBytes of what is derived from them for each lease.
	saltBytes = 32
	nameBytes = 16
)

// salt is a secret of the experiment, which the names of agents' sockets contain: another user of a node who could
// predict a name could take it before the agent does.
type salt []byte

// readSalt reads the salt of an experiment, or makes it. It stays the same for later hosts, because the scripts of
// jobs that they adopt have names that contain it.
func readSalt(dir string) (s salt, err error) {
	defer func() {
		if err != nil {
			path := filepath.Join(dir, logDir, saltFile)
			err = fmt.Errorf("the names of agents' sockets are not known (%s): %w", path, err)
		}
	}()
	root, err := plainfile.Private(filepath.Join(dir, logDir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, err := plainfile.In(root, saltFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		s = make(salt, saltBytes)
		_, _ = rand.Read(s) // it never fails
		return s, plainfile.Replace(root, saltFile, s)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err = io.ReadAll(io.LimitReader(f, saltBytes+1))
	if err == nil && len(s) != saltBytes {
		err = errors.New("it is damaged: remove it; jobs that run are then lost")
	}
	return s, err
}

// name returns a name for a lease, which only who has the salt can predict.
func (s salt) name(lease string) string {
	mac := hmac.New(sha256.New, s)
	_, _ = mac.Write([]byte(lease)) // it never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:nameBytes]))
}
