// Package serve turns a program into a plugin. The whole main of a searcher is
//
//	func main() { serve.Searcher(plugin) }
//
// where plugin is an [sdk.SearcherPlugin]. tunehost starts the program and talks gRPC over
// hashicorp/go-plugin with it (see ../PROTOCOL.md); the program ends with tunehost. Its stdout and
// stderr go to the experiment's log.
//
// The same program is a WASM module (package abi) when it is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm
//
// The sandbox provides no files, network or environment. main runs at the first call of the module,
// until it serves. Trainables must report with [sdk.ReportState] there, because they have no
// directory to save to.
//
// The package is separate from package sdk so that bundled plugins and modules do not depend on
// gRPC.
package serve
