package lockfile

import "runtime/debug"

// Version returns the version of tunehost in this program.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
