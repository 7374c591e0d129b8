// Command warm compiles a module into a cache. Tests under the race detector have it
// done without the detector, which makes the compiler twenty times slower.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tunehost/tunehost/host/plugin/sandbox"
)

func main() {
	if err := sandbox.Compile(context.Background(), sandbox.Config{Path: os.Args[1], Cache: os.Args[2]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
