package torture

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brief are kinds that are over in seconds.
var brief = map[bool]kind{
	true: {name: "printing", trials: 3, logs: true, yaml: header + quality + `
trainable: {command: ["./train.sh"]}
trials: 3
`, scripts: map[string]string{"train.sh": printing}},
	false: {name: "folder", trials: 4, logs: true, yaml: keeping + `
searcher: random
scheduler: {plugin: asha, max: 9}
trials: 4
`},
}

// said is what a host says of a fault.
var said = map[string]string{
	"full disk":     "there is room on the disk again",
	"no record":     "was removed or moved away",
	"frozen record": "operation not permitted",
}

// Each fault once. An experiment that suffers it comes to its end, by itself or
// when it is taken up again, with everything in its record that its trainables
// were told is there.
// B-024, B-025, B-080, B-084, B-085, B-087, B-092
func TestEachFault(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if f.name == "full disk" && !mountable() {
				t.Skip("no file system can be mounted here; core/journal and host/report/files have disks that are full of their own")
			}
			x := prepare(t, brief[strings.HasSuffix(f.name, "trial") || strings.HasSuffix(f.name, "child")], f.name == "full disk")
			if f.possible != nil && !f.possible(x) {
				t.Skip("only root can do this to others' processes")
			}
			h := x.start(t)
			if !h.await(t, patience, x.reports) {
				t.Fatalf("nothing was reported:\n%s", h.said())
			}
			f.do(t, h, rand.New(rand.NewPCG(2, 0)))
			h.ends(t)
			h.judge(t)
			x.alone(t)
			if want := said[f.name]; !strings.Contains(h.said(), want) {
				t.Errorf("the host has not said %q:\n%s", want, h.said())
			}
			x.finish(t)
			x.audit(t)
		})
	}
}

// reports says whether a trainable has said that it has reported something.
func (x *experiment) reports() bool {
	list, _ := filepath.Glob(filepath.Join(x.root, "logs", "*"))
	for _, name := range list {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), "report") {
			return true
		}
	}
	return false
}
