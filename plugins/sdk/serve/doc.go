// Package serve makes a program a plugin. The whole main of a searcher is
//
//	func main() { serve.Searcher(plugin) }
//
// where plugin is an [sdk.SearcherPlugin]. The program is started by tunehost,
// speaks gRPC over hashicorp/go-plugin with it (see ../PROTOCOL.md), and ends
// with it. What it writes to stdout and stderr goes to the experiment's log.
//
// The same main is a WASM module (package abi) when it is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm
//
// The sandbox calls it without files, network and environment; main runs when the
// module is called for the first time, up to where it serves. Trainables report with
// [sdk.ReportState] there, since they have no directory to save to.
//
// It is apart from package sdk so that bundled plugins need not carry gRPC; modules
// do not either.
package serve
