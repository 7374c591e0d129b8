package slurm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// No bridge is opened for a lease that is being given back, whatever is told of it.
func TestNoBridgeForReturnedLease(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	script := "#!/bin/sh\necho \"$@\" >> " + said + "\n"
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := &bridges{program: "/bin/tunehost", environ: os.Environ(), stop: map[string]context.CancelFunc{}}
	defer r.end()
	shut := false
	r.stop["th-a-1"] = func() { shut = true }
	r.shut([]string{"th-a-1", "th-a-2"})
	if !shut {
		t.Error("its bridges are open")
	}
	for _, lease := range []string{"th-a-1", "th-a-2", "th-a-3"} {
		event := &sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseGranted, Bundles: []sdk.GrantedBundle{{Node: "n1"}}}
		r.follows(event, "/tmp/none", func(int) bundlePlace { return bundlePlace{job: lease, offset: -1} })
	}
	text := ""
	for end := time.Now().Add(time.Minute); !strings.Contains(text, "th-a-3"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the bridge of another lease is not opened")
		}
		all, _ := os.ReadFile(said)
		text = string(all)
	}
	if strings.Contains(text, "th-a-1") || strings.Contains(text, "th-a-2") {
		t.Error("bridges are opened:", text)
	}
	if r.close("th-a-1"); r.stop["th-a-1"] != nil {
		t.Error("the lease is kept for ever")
	}
}
