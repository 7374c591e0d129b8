// Package hosttest checks experiments after the fact, for tests of whatever runs
// them: that nothing was lost, counted twice or left behind. Its own tests kill
// real hosts.
package hosttest
