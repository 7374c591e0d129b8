package ownership

import (
	"fmt"
	"io/fs"
	"os"
)

// CheckLink returns an error if a path is a link that another user has made to a directory which is not that user's.
// Who lists a folder would read there what its maker may not.
func CheckLink(path string) error { return checkLink(path, os.Geteuid()) }

func checkLink(path string, me int) error {
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return err
	}
	maker, _, ok := Of(link)
	if !ok || maker == me || maker == 0 {
		return nil
	}
	target, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, _, _ := Of(target)
	if owner == maker {
		return nil
	}
	return fmt.Errorf("the user %d has made it as a link to a directory of the user %d, so it is not followed: name "+
		"that directory itself, or remove the link", maker, owner)
}
