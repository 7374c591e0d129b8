//go:build !linux

package forks

import (
	"fmt"
	"os"
)

// Main refuses: on this system programs do not ask for it.
func Main([]string) int {
	fmt.Fprintf(os.Stderr, "%s is for Linux\n", Command)
	return 2
}
