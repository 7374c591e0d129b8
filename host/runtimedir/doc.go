// Package runtimedir owns what tunehost keeps outside of an experiment's directory:
// sockets, states that are held in memory, copies for a moment.
//
// All of it is in one folder of the user's: tunehost in $XDG_RUNTIME_DIR, else
// tunehost-UID in the temporary directory. In it each process has a folder, its home,
// which is
//
//	h1a2b3c/                 locked (flock) as long as the process lives
//	h1a2b3c/.tunehost-home   the marker: who made it; written after the lock is held
//	h1a2b3c/1, h1a2b3c/2, …  what [Make] has given out
//
// A process that was killed leaves its home behind. The next one removes it, and
// nothing else: only what lies in the user's folder, is the user's own, is no link, has
// the marker with the user's id, and is locked by nobody (B-155).
//
// The paths are short, because a unix socket's path has 108 bytes at most.
package runtimedir
