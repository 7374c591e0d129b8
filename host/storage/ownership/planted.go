package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostLinks is how many links of a path are looked at; a path with more of them leads nowhere.
const mostLinks = 255

// CheckPath returns an error if a link on the way to a path may have been planted: another user has made it in a
// folder of a third one in which everybody can write. Linux refuses to follow such links in a folder like /tmp
// (fs.protected_symlinks), but not who reads them and opens what they lead to. The path is absolute; its last elements
// need not exist.
func CheckPath(path string) error { return checkPath(path, os.Geteuid()) }

func checkPath(path string, me int) error {
	at, left := string(filepath.Separator), elements(path)
	for links := 0; len(left) > 0 && links < mostLinks; {
		next := filepath.Join(at, left[0])
		left = left[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return nil // who opens it finds the reason
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if err := checkPlanted(next, info, me); err != nil {
			return err
		}
		target, err := os.Readlink(next)
		if err != nil {
			return nil
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		left = append(elements(target), left...)
		links++
	}
	return nil
}

// elements are the names in a path; ".." stays.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// checkPlanted checks one link; info describes it.
func checkPlanted(link string, info fs.FileInfo, me int) error {
	folder, err := os.Stat(filepath.Dir(link))
	if err != nil || folder.Mode()&0o002 == 0 {
		return nil
	}
	maker, _, ok := Of(info)
	owner, _, _ := Of(folder)
	if !ok || maker == me || maker == 0 || maker == owner {
		return nil
	}
	return fmt.Errorf("%s is a link that the user %d has made in a folder in which everybody can write, so it is not "+
		"followed (you are %d)", link, maker, me)
}
