package slurm

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
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

// said is what the log of a lease has.
type said struct {
	begun  bool   // Slurm has begun the step
	words  string // the messages of srun itself
	places map[int]where
	last   string // why the setup has failed, or else the last line
}

// maxSteps limits how much of a log is read for the places of its bundles.
const maxSteps = 1 << 20

// readLog reads the log of a lease.
func readLog(dir, lease string) (s said) {
	f, err := readLogOf(dir, lease)
	if err != nil {
		return said{}
	}
	defer f.Close()
	text := make([]byte, maxSteps)
	n, _ := f.Read(text)
	var words []string
	s.places = map[int]where{}
	for line := range strings.Lines(string(text[:n])) {
		line = strings.TrimSpace(line)
		var w where
		if _, err := fmt.Sscanf(line, mark+" %d %d %s %s", &w.of, &w.bundle, &w.node, &w.gpus); err == nil {
			s.places[w.bundle] = w
		} else if strings.HasPrefix(line, "srun: ") {
			words = append(words, line)
		}
		s.begun = s.begun || strings.HasPrefix(line, mark) || ofTask().MatchString(line)
	}
	s.words, s.last = strings.Join(words, "; "), lastWords(dir, lease)
	return s
}

// ofTask matches messages of srun about tasks or nodes of a step for which the allocation has room: the request is not
// refused.
var ofTask = lazily.Regexp(`^srun: .*(\btasks? [0-9,-]+: |[Tt]ask ([0-9]+ )?launch|launch failed|Node failure|` +
	`step aborted|Timed out waiting)`)

// refuses reports whether srun itself has refused the request. A step that has begun and ended is a lost lease: another
// node may be able to do what its node was not.
func (s *said) refuses() bool { return !s.begun && refusal(&failure{words: s.words}) != "" }

// why returns why a step has ended.
func (s *said) why() string {
	if strings.HasPrefix(s.last, setupFailed) {
		return s.last + "; the log of the lease in " + logDir + " has all that it printed"
	}
	return s.last
}

// granted are the bundles of a lease. Each task of a step has what the largest bundle needs: another one is granted no
// more than it asked for.
func (l *step) granted(places map[int]where) []sdk.GrantedBundle {
	list := placed(places)
	if l.request == nil { // an earlier process has asked, and the host knows what was granted
		return list
	}
	for i := range min(len(list), len(l.request.Bundles)) {
		list[i].Devices = list[i].Devices[:min(gpusOf(l.request.Bundles[i]), len(list[i].Devices))]
	}
	return list
}

func gpusOf(b sdk.LeaseBundle) int {
	for _, a := range b {
		if a.Name == "gpu" {
			return int(math.Ceil(a.Value))
		}
	}
	return 0
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
