package command

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// reporterName is the program by which scripts report.
const reporterName = "tunehost"

// reporter returns the path of this process's program if it is tunehost itself, and not a program that embeds it, which
// cannot report; else "".
var reporter = func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Path != "github.com/tunehost/tunehost/cmd/tunehost" {
		return ""
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// withReporter appends a folder to a PATH on which there is no tunehost: it has this process's program under that name.
// On a node of an engine that was sent the program, it is nowhere else; the same holds for one that was started by its
// path. The folder is in the one that the host made for this plugin and removes.
func withReporter(path string) string {
	parent, program := os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), reporter()
	if !filepath.IsAbs(parent) || strings.ContainsRune(parent, os.PathListSeparator) || program == "" {
		return path
	}
	if _, err := argv.Find(reporterName, path); err == nil {
		return path
	}
	dir := filepath.Join(parent, "bin")
	if os.Mkdir(dir, 0o700) != nil || os.Symlink(program, filepath.Join(dir, reporterName)) != nil {
		return path // scripts that need it say so
	}
	if path == "" {
		return dir
	}
	return path + string(os.PathListSeparator) + dir
}
