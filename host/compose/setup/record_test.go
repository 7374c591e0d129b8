package setup

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/holding"
	"github.com/tunehost/tunehost/host/storage"
)

// Plugins that start are told the past from the record, which somebody may remove in the meantime.
func TestRecordIsGone(t *testing.T) {
	dir, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &Setup{Holding: &holding.Holding{Dir: dir}}
	if _, err := b.past(); err == nil || !strings.Contains(err.Error(), "record is gone: put it back") {
		t.Error(err)
	}
}
