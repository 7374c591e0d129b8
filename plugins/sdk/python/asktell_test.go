package python_test

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// pytest runs a file of tests of testdata with the installed wheel.
func (w wheel) pytest(t *testing.T, file string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command(t.TempDir(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", filepath.Dir(path), path)
	cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// A caller in Python trains: it asks and tells, in threads, with asyncio, and after a kill -9.
func TestAskTell(t *testing.T) {
	installedWheel(t).pytest(t, "tune/test_asktell.py")
}

// Callbacks report, restore and stop with the real libraries; TunedCV is an estimator of scikit-learn.
func TestIntegrations(t *testing.T) {
	toolchain.NeedPython(t, "sklearn", "xgboost", "lightgbm")
	installedWheel(t).pytest(t, "integrations/test_small.py")
}
