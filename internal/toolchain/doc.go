// Package toolchain finds the languages that tests need in addition to Go, and skips tests of missing
// ones. Only tests of plugins in other languages use it.
//
// A test that needs another language starts with
//
//	cargo := toolchain.Need(t, toolchain.Rust)
//
// If the language is not installed, the test is skipped with a message, because `go test ./...`
// must pass on a machine with Go alone. With CI or STRICT set in the environment, the test fails
// instead.
//
// `go test` shows the reason of a skipped test only with -v. So make sets TUNEHOST_TESTED to a
// folder, to which each test package that needs another language writes what it tested and skipped.
// `go run ./internal/toolchain/tested FOLDER` lists this as the last step of `make check`.
package toolchain
