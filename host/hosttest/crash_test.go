package hosttest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
)

// A host that the runtime ends leaves a report, which the next host mentions; one
// that was killed leaves none.
func TestCrashReport(t *testing.T) {
	t.Parallel()
	x := write(t, held, nil)
	p := x.start(t)
	x.awaitResults(t, p, 3)
	if shown, _ := filepath.Glob(filepath.Join(x.dir, "crash*")); len(shown) > 0 {
		t.Errorf("the directory of a host that is well has %v", shown)
	}
	p.signal(t, syscall.SIGABRT)
	<-p.exit
	p = x.start(t)
	for end := time.Now().Add(patience); !strings.Contains(p.out.String(), "its report is") && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	p.kill(t)
	said := p.out.String()
	reports, err := filepath.Glob(filepath.Join(x.dir, "crash-*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("there are %v (%v), want one report", reports, err)
	}
	if !strings.Contains(said, "the last host of this experiment failed; its report is "+reports[0]) {
		t.Errorf("the next host says only:\n%s", said)
	}
	text, err := os.ReadFile(reports[0])
	if err != nil || !strings.Contains(string(text), "SIGABRT") || !strings.Contains(string(text), "goroutine") {
		t.Errorf("the report (%v) is:\n%s", err, text)
	}
	x.letGo(t)
	if out := x.run(t, 0); strings.Contains(out, "failed") {
		t.Errorf("a killed host is taken for a failed one:\n%s", out)
	}
	hosttest.CheckFinished(t, x.dir, 5)
	shown, _ := filepath.Glob(filepath.Join(x.dir, "crash*.txt"))
	hidden, _ := filepath.Glob(filepath.Join(x.dir, ".crash*"))
	if len(shown) != 1 || len(hidden) > 0 {
		t.Errorf("left are %v and %v, want the one report", shown, hidden)
	}
}
