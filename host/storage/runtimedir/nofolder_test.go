package runtimedir

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// Why there is no folder is said in one line, which is the same each time: a host tells its user of it once.
func TestNoFolder(t *testing.T) {
	where := places{[]string{"/proc/none/tunehost-1"}, "/proc/none"}
	_, err := newHome(where)
	_, again := newHome(where)
	const want = "no folder for tunehost's own files: /proc/none/tunehost-1: no such file or directory; " +
		"/proc/none: no such file or directory"
	none, ok := errors.AsType[*NoFolderError](err)
	if !ok || none.Why() != want || again.Error() != err.Error() || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v\n%v", err, again)
	}
	if _, err := newHome(places{nil, "/proc"}); err == nil || strings.ContainsAny(err.Error(), "0123456789\n") {
		t.Error(err)
	}
}
