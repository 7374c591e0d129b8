// Package runtimedir manages the files that tunehost keeps outside of an experiment's directory:
// sockets, states in memory, temporary copies.
//
// All of them are in one folder of the user: tunehost in $XDG_RUNTIME_DIR, else tunehost-UID in the
// temporary directory. In it each process has a folder, its home:
//
//	h1a2b3c/                 locked (flock) as long as the process lives
//	h1a2b3c/.tunehost-home   the marker: who made it; written after the lock is held
//	h1a2b3c/1, h1a2b3c/2, …  the folders that [Make] returns
//
// A killed process leaves its home behind. The next process removes it, and nothing else: only a
// folder that lies in the user's folder, belongs to the user, is no link, has the marker with the
// user's id, and is not locked (B-155). A process that is killed before it has written the marker, or
// after it has removed it, leaves an empty folder: such a folder with a name of ours is removed when it
// is a minute old.
//
// The paths are short, because the path of a unix socket has at most 108 bytes.
package runtimedir
