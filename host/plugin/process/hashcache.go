package process

import (
	"io/fs"
	"sync"
	"time"
)

// hashed caches the checksums of files that have not changed, so that a plugin that starts for each
// trial is not read each time.
var hashed = struct {
	mu   sync.Mutex
	sums map[string]hashedFile
}{sums: map[string]hashedFile{}}

type hashedFile struct {
	id  fileID
	sum string
}

// fileID changes with every write to a file: programs cannot set the change time.
type fileID struct {
	device, inode uint64
	size          int64
	written       int64
	changed       int64
}

// settled is how old a change must be, so that a later change has another time: the clock of file
// times is coarse.
const settled = 2 * time.Second

// maxHashed is how many files are remembered.
const maxHashed = 100_000

// HashUnchanged is [HashFile] for a file with an info from just now. A file that has not changed since
// it was hashed is not read again.
func HashUnchanged(path string, info fs.FileInfo) (string, error) {
	id, known := idOf(info)
	if known {
		hashed.mu.Lock()
		before, ok := hashed.sums[path]
		hashed.mu.Unlock()
		if ok && before.id == id {
			return before.sum, nil
		}
	}
	sum, err := HashFile(path)
	if err != nil || !known || time.Since(time.Unix(0, id.changed)) < settled {
		return sum, err
	}
	hashed.mu.Lock()
	defer hashed.mu.Unlock()
	if len(hashed.sums) >= maxHashed {
		clear(hashed.sums)
	}
	hashed.sums[path] = hashedFile{id, sum}
	return sum, nil
}
