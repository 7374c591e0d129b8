package guard

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/ownership"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

// Who owns the file of a token knows the token, and who can write to its folder can put another there.

// above refuses to make a folder for tokens in one of another user.
func above(dir string) error {
	for filepath.Dir(dir) != dir {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	return ours(dir, info, os.Geteuid())
}

// safe refuses a folder for tokens that is another user's, or that others can write to.
func safe(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	if err := ours(dir, info, os.Geteuid()); err != nil {
		return err
	}
	if ownership.Shared(info) {
		return usererror.Errorf("%s can be written to by others (mode %04o), who could replace the tokens of the "+
			"server: run chmod go-w %s", dir, info.Mode().Perm(), untrusted.Word(dir))
	}
	return nil
}

// ours refuses a folder of another user than this one and root.
func ours(dir string, info fs.FileInfo, me int) error {
	if owner, _, known := ownership.Of(info); known && owner != me && owner != 0 {
		return usererror.Errorf("%s belongs to another user (%d; you are %d), who could replace the tokens of the "+
			"server: set HOME or XDG_CONFIG_HOME to a folder of your own", dir, owner, me)
	}
	return nil
}

// own refuses the file of a token that another user has or can access.
func own(path string, info fs.FileInfo, me int) error {
	if owner, _, known := ownership.Of(info); known && owner != me {
		return usererror.Errorf("%s belongs to another user (%d; you are %d), who knows this token: remove the file, "+
			"and the server makes another", path, owner, me)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return usererror.Errorf("%s: other users can access this token (mode %04o); remove the file, and the server "+
			"makes another", path, mode)
	}
	return nil
}
