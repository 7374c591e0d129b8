package slurm

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/plainfile"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// openLog opens a new file for the output of a lease's srun. It does not follow a link.
func openLog(dir, lease string) (*os.File, error) {
	root, err := plainfile.Private(filepath.Join(dir, logDir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return plainfile.In(root, filepath.Base(logPath(dir, lease)), os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
}

// openLogs opens the folder of the logs. A link may not lead out of the experiment's directory.
func openLogs(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenRoot(logDir)
}

// removeLogOf removes the output of a lease if it fits. It does not follow a link.
func removeLogOf(dir, lease string, fits func(fs.FileInfo) bool) {
	logs, err := openLogs(dir)
	if err != nil {
		return
	}
	defer func() { _ = logs.Close() }()
	name := filepath.Base(logPath(dir, lease))
	if info, err := logs.Lstat(name); err == nil && fits(info) {
		_ = logs.Remove(name)
	}
}

// readLogOf opens the output of a lease to read it. It does not follow a link either.
func readLogOf(dir, lease string) (*os.File, error) {
	logs, err := openLogs(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logs.Close() }()
	return plainfile.In(logs, filepath.Base(logPath(dir, lease)), os.O_RDONLY)
}

// where is the report of a bundle about its place.
type where struct {
	of, bundle int
	node, gpus string
}

// maxSteps limits how much of a log is read for the places of its bundles.
const maxSteps = 1 << 20

// readLog returns the messages of srun itself, the places of the bundles, and the last line.
func readLog(dir, lease string) (words string, places map[int]where, last string) {
	f, err := readLogOf(dir, lease)
	if err != nil {
		return "", nil, ""
	}
	defer f.Close()
	text := make([]byte, maxSteps)
	n, _ := f.Read(text)
	var said []string
	places = map[int]where{}
	for line := range strings.Lines(string(text[:n])) {
		line = strings.TrimSpace(line)
		var w where
		if _, err := fmt.Sscanf(line, mark+" %d %d %s %s", &w.of, &w.bundle, &w.node, &w.gpus); err == nil {
			places[w.bundle] = w
		} else if strings.HasPrefix(line, "srun: ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; "), places, lastWords(dir, lease)
}

func placed(places map[int]where) (list []sdk.GrantedBundle) {
	for _, i := range slices.Sorted(maps.Keys(places)) {
		b := sdk.GrantedBundle{Node: places[i].node}
		if gpus := places[i].gpus; gpus != "-" {
			b.Devices = strings.Split(gpus, ",")
		}
		list = append(list, b)
	}
	return list
}
