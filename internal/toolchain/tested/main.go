// Command tested is the last step of `make check`: it lists the tested languages.
//
//	go run ./internal/toolchain/tested FOLDER
//
// FOLDER has the notes of the tests (package toolchain). If CI or STRICT is set, a language that
// was not tested is a failure.
package main

import (
	"fmt"
	"os"

	"github.com/tunehost/tunehost/internal/toolchain"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tested FOLDER")
		os.Exit(2)
	}
	text, complete, err := toolchain.Summary(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
	if !complete && toolchain.Strict() {
		fmt.Fprintln(os.Stderr, "CI or STRICT is set, so that all languages must be tested")
		os.Exit(1)
	}
}
