//go:build unix

package storage

import (
	"fmt"
	"os"
	"syscall"
)

// othersMay says how somebody else could change what a host runs from a directory.
func othersMay(info os.FileInfo, me int) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return ""
	case int(s.Uid) != me && s.Uid != 0 && me != 0:
		return fmt.Sprintf("belongs to another user (%d; you are %d), who could change what runs as you: copy it to a folder of your own", s.Uid, me)
	case info.Mode()&0o002 != 0:
		return fmt.Sprintf("can be written to by everybody (%v), who could change what runs as you: run chmod o-w on it", info.Mode())
	}
	return ""
}
