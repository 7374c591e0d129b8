package command

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// exportingRun is a fakeRun that requests models when its program has ended.
type exportingRun struct {
	*fakeRun
	export func(format, dir string) error
}

func (r *exportingRun) Export(export func(format, dir string) error) { r.export = export }

// exporting runs a program that exports, and requests each format.
func exporting(t *testing.T, script string, formats ...string) (root string, errs map[string]error) {
	t.Helper()
	run := &exportingRun{fakeRun: newRun(t)}
	root = filepath.Join(run.trial.Dir, "export", ".new")
	run.trial.Export, run.trial.ExportDir = formats, root
	trainErr := openTest(t, sh(script)).Train(t.Context(), run)
	errs = map[string]error{"train": trainErr}
	for _, f := range formats {
		dir := filepath.Join(root, f)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		errs[f] = run.export(f, dir)
	}
	return root, errs
}

// B-060: a file or folder with the name of a format is the program's model in that format; a
// missing one is an error of that format.
func TestExport(t *testing.T) {
	root, errs := exporting(t, `echo '{"accuracy": 1}'
		echo $TUNEHOST_EXPORT_FORMATS > "$TUNEHOST_EXPORT_DIR/onnx"
		mkdir "$TUNEHOST_EXPORT_DIR/saved"; echo weights > "$TUNEHOST_EXPORT_DIR/saved/w"`, "onnx", "saved", "pickle")
	if got := readFile(t, root, "onnx", "onnx"); got != "onnx,saved,pickle\n" {
		t.Errorf("%q", got)
	}
	if got := readFile(t, root, "saved", "w"); got != "weights\n" {
		t.Errorf("%q", got)
	}
	if errs["train"] != nil || errs["onnx"] != nil || errs["saved"] != nil || errs["pickle"] == nil {
		t.Errorf("%v", errs)
	}
	wantContains(t, errs["pickle"].Error(), "the program left no pickle in TUNEHOST_EXPORT_DIR")
}

// A killed program may have written half a file.
func TestExportOfAKilledProgram(t *testing.T) {
	_, errs := exporting(t, `echo half > "$TUNEHOST_EXPORT_DIR/onnx"; kill -9 $$`, "onnx")
	if errs["onnx"] == nil || errors.Is(errs["onnx"], sdk.ErrUnknownFormat) {
		t.Error(errs["onnx"])
	}
}

// B-150: a stopped program that handles the signal and ends like one that a signal has ended has
// cleaned up, and its files are its model. A program that does not handle the signal was
// interrupted.
func TestExportAfterAStop(t *testing.T) {
	const wait = `echo '{"accuracy": 1}'; while :; do sleep 0.01; done`
	const model = `echo whole > "$TUNEHOST_EXPORT_DIR/onnx"; `
	for script, kept := range map[string]bool{
		`trap '` + model + `exit 0' TERM; ` + wait:               true,
		`trap '` + model + `exit 143' TERM; ` + wait:             true,
		`trap '` + model + `trap - TERM; kill $$' TERM; ` + wait: runtime.GOOS == "linux",
		`trap '` + model + `exit 1' TERM; ` + wait:               false,
		`trap '` + model + `kill -9 $$' TERM; ` + wait:           false,
		model + wait:      false,
		model + `kill $$`: false, // nobody has stopped it
	} {
		run := &exportingRun{fakeRun: newRun(t)}
		run.decide = stopAtFirst
		root := filepath.Join(run.trial.Dir, "export", ".new")
		run.trial.Export, run.trial.ExportDir = []string{"onnx"}, root
		_ = openTest(t, sh(script)).Train(t.Context(), run)
		if err := os.MkdirAll(filepath.Join(root, "onnx"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := run.export("onnx", filepath.Join(root, "onnx")); (err == nil) != kept {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// Without requested exports, no folder is passed.
func TestNoExport(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`echo '{"accuracy": 1}'; echo "dir:$TUNEHOST_EXPORT_DIR:" >&2`).with("log", true), run)
	wantContains(t, readFile(t, run.trial.Dir, "stderr"), "dir::")
}
