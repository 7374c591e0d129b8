// Package toolchain says what a test needs beside Go, and what happens where that is
// missing. Tests of plugins in other languages use it; nothing else does.
//
// A test that needs another language begins with
//
//	cargo := toolchain.Need(t, toolchain.Rust)
//
// Where the language is not installed, the test is skipped and says so, because
// `go test ./...` has to pass on a machine that has Go alone. With CI or STRICT set in
// the environment, the test fails instead: there, nothing may go untested unnoticed.
//
// `go test` shows the reason of a skipped test only with -v. So make sets TUNEHOST_TESTED to a folder; each
// test package that needs another language writes there what it tested and what it did not, and
// `go run ./internal/toolchain/tested FOLDER` lists that as the last step of `make check`.
package toolchain
