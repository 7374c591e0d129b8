package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// exportsIn are what the record says of a trial's models, by format.
func exportsIn(t *testing.T, dir string, no core.TrialNo) map[string]core.Export {
	t.Helper()
	found := map[string]core.Export{}
	for _, x := range audit(t, dir, nil).Exports(no) {
		found[x.Format] = x
	}
	return found
}

// B-060: a trainable's models are whole in the trial's directory, with their
// hashes; a format that it does not know is an error in each trial's record, said
// once, and every trial ends well.
func TestExport(t *testing.T) {
	t.Parallel()
	o, seen := quick(t, `
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {epochs: 1, lr: {loguniform: [0.01, 0.1]}}
trials: 2
export: [json, onnx]
`, digits.Plugin)
	ended := finish(t, o)
	if ended.Errored != 0 {
		t.Errorf("%+v\n%s", ended, seen)
	}
	for no := range core.TrialNo(2) {
		x := exportsIn(t, ended.Dir, no)
		if x["json"].Error != "" || x["json"].Bytes == 0 || x["onnx"].Error != sdk.ErrUnknownFormat.Error() {
			t.Errorf("trial %d: %+v", no, x)
		}
	}
	if n := strings.Count(seen.String(), "was not exported as onnx"); n != 1 {
		t.Errorf("said %d times:\n%s", n, seen)
	}
	whole, err := filepath.Glob(filepath.Join(ended.Dir, "trials", "*", "export", "json"))
	if err != nil || len(whole) != 2 {
		t.Fatal(whole, err)
	}
	for _, dir := range whole {
		m, err := storage.CheckCheckpoint(dir, true)
		if err != nil || m.Format != "json" || m.Iteration != 1 || len(m.Files) != 1 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	shown(t, ended.Dir)
}

// shown: what `trials --json` says of the models.
func shown(t *testing.T, dir string) {
	t.Helper()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e.Now().Trial(0))
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Exports []struct{ Format, Dir, Error string }
	}
	if err := json.Unmarshal(text, &x); err != nil || len(x.Exports) != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, x := range x.Exports {
		if (x.Dir == "") == (x.Error == "") {
			t.Errorf("%+v", x)
		}
		if x.Dir != "" {
			if _, err := os.Stat(filepath.Join(x.Dir, "network.json")); err != nil {
				t.Error(err)
			}
		}
	}
}

// B-060: a program's models are taken over when it has ended well, not when it has
// failed; what is no plain file is refused.
func TestExportOfPrograms(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "train.sh")
	if err := os.WriteFile(script, []byte(`
echo weights > $TUNEHOST_EXPORT_DIR/good
mkdir $TUNEHOST_EXPORT_DIR/bad; ln -s /etc/hostname $TUNEHOST_EXPORT_DIR/bad/link
echo "{\"score\": 1}"
exit $1
`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, seen := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, `+script+`, "{status}"]}
space: {status: {grid: [0, 3]}}
searcher: grid
export: [good, bad, none]
`)
	ended := finish(t, o)
	if ended.Errored != 1 {
		t.Errorf("%+v\n%s", ended, seen)
	}
	x := exportsIn(t, ended.Dir, 0)
	if x["good"].Error != "" || x["good"].Bytes != 8 {
		t.Errorf("%+v", x["good"])
	}
	contains(t, x["bad"].Error, "link is a link; ")
	contains(t, x["none"].Error, "left no none")
	if x := exportsIn(t, ended.Dir, 1); len(x) != 0 {
		t.Errorf("the failed trial's: %+v", x)
	}
	left, err := filepath.Glob(filepath.Join(ended.Dir, "trials", "*", "export", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := replay.Check(t.Context(), ended.Dir, o.Plugins); err != nil {
		t.Error(err)
	}
}
