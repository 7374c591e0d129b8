//go:build unix && !linux

package serve

// moveEmpty and startedPrograms are known on Linux only: elsewhere each trial gets new files.
func moveEmpty(sink, string) bool { return false }

func startedPrograms() bool { return true }
