package terminal

import (
	"os"

	"golang.org/x/term"
)

// Detect fills Options for a file that may be a terminal. NO_COLOR and TERM=dumb
// are respected; lookup is os.LookupEnv.
func Detect(out *os.File, v Verbosity, lookup func(string) (string, bool)) Options {
	fd := int(out.Fd())
	kind, _ := lookup("TERM")
	noColor, _ := lookup("NO_COLOR")
	terminal := term.IsTerminal(fd) && kind != "dumb"
	return Options{
		Out:       out,
		Terminal:  terminal,
		Color:     terminal && noColor == "",
		Verbosity: v,
		Size: func() (int, int) {
			w, h, err := term.GetSize(fd)
			if err != nil {
				return 0, 0
			}
			return w, h
		},
	}
}
