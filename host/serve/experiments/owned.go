package experiments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tunehost/tunehost/host/storage/ownership"
)

// Owned refuses a folder of another user, who could change what runs in it. The first experiment makes one that does
// not exist.
func Owned(root string) error {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if owner, _, known := ownership.Of(info); known && owner != os.Geteuid() && owner != 0 {
		return fmt.Errorf("%s belongs to another user (%d; you are %d), who could change what runs as you: serve a "+
			"folder of your own, or begin the experiment with `tunehost run`", root, owner, os.Geteuid())
	}
	return nil
}
