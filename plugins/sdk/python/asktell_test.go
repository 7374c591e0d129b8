package python_test

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// pytest runs files of tests of a folder of testdata with the installed wheel. Tests mostly wait for a host, and each
// has a folder of its own: three at a time.
func (w wheel) pytest(t *testing.T, files ...string) {
	t.Helper()
	args := []string{"-m", "pytest", "-q", "-n", "3", "-p", "no:cacheprovider", "--rootdir"}
	for i, file := range files {
		path, err := filepath.Abs(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			args = append(args, filepath.Dir(path))
		}
		args = append(args, path)
	}
	cmd := w.command(t.TempDir(), args...)
	cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1")
	must(t, cmd)
}

// A caller in Python trains: it asks and tells, in threads, with asyncio, and after a kill -9.
func TestAskTell(t *testing.T) {
	t.Parallel()
	installedWheel(t).pytest(t, "tune/test_asktell.py")
}

// Callbacks report, restore and stop with the real libraries; TunedCV is an estimator of scikit-learn.
func TestIntegrations(t *testing.T) {
	t.Parallel()
	toolchain.NeedPython(t, "sklearn", "xgboost", "lightgbm")
	installedWheel(t).pytest(t, "integrations/test_small.py")
}
