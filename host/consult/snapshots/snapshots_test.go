package snapshots

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Newest returns the newest complete snapshot up to an event: the scheduler's may include events whose
// decisions were not recorded.
func TestNewestSnapshot(t *testing.T) {
	s := New(Folder(filepath.Join(t.TempDir(), "snapshots")), sdk.KindSearcher, "x", Every,
		hostlog.New(hclog.NewNullLogger()))
	for _, at := range []uint64{7, 90, 1000} {
		if err := s.write(at, []byte{byte(at)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.list(); !slices.Equal(got, []uint64{90, 1000}) {
		t.Fatalf("kept are %v", got)
	}
	for through, want := range map[uint64]uint64{2000: 1000, 1000: 1000, 999: 90, 89: 0} {
		state, at := s.Newest(through)
		if at != want || want > 0 && (len(state) != 1 || state[0] != byte(want)) {
			t.Errorf("up to %d: %v at %d, want %d", through, state, at, want)
		}
	}
	other := *s
	other.of = "y"
	if _, at := other.Newest(2000); at != 0 {
		t.Error("another plugin's is used")
	}
	if _, at := (&Snapshots{}).Newest(5); at != 0 {
		t.Error("there is one without a directory")
	}
}
