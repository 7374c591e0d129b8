package door

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// settled is the age from which a socket on which nobody listens is left by an agent that was killed. The agent of a
// newer one may be about to listen.
const settled = time.Minute

// RemoveLeft removes the sockets that killed agents of the same experiment have left, with their folders, which
// executors put beside that of a socket. Names of an experiment's leases differ after their last hyphen, and begin
// those of the folders; where they do not, nothing is removed.
func RemoveLeft(path, lease string) {
	experiment := lease[:strings.LastIndex(lease, "-")+1]
	own := filepath.Dir(path)
	if experiment == "" || !strings.HasPrefix(filepath.Base(own), experiment) {
		return
	}
	folders, _ := os.ReadDir(filepath.Dir(own))
	for _, f := range folders {
		if strings.HasPrefix(f.Name(), experiment) {
			removeLeft(filepath.Join(filepath.Dir(own), f.Name(), filepath.Base(path)))
		}
	}
}

// removeLeft removes a socket and its folder if they are this user's alone, and nobody listens.
func removeLeft(path string) {
	dir := filepath.Dir(path)
	if private(dir) != nil {
		return
	}
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) < settled {
		return
	}
	if removeStale(path) == nil {
		_ = os.Remove(dir) // there may be something else in it
	}
}
