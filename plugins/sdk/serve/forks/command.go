package forks

const (
	// Command is the first argument of a process that serves the trainable of a program that forks; the version of
	// this package's messages and the file descriptor of the program's socket follow.
	Command = "plugin-forks"
	// Variable tells a plugin how to start such a process: VERSION:PATH. It is for plugins on Linux.
	Variable = "TUNEHOST_FORKS"

	version = "1"
)

// Setting is the value of [Variable] for a program that passes its arguments to [Main].
func Setting(path string) string { return version + ":" + path }
