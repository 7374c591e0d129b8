package lockfile

import "runtime/debug"

// release is the version of a release, which the linker sets (-X); "" in other builds.
var release string

// Version returns the version of tunehost in this program.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
