// Package serve makes a program a plugin. The whole main of a searcher is
//
//	func main() { serve.Searcher(plugin) }
//
// where plugin is an [sdk.SearcherPlugin]. The program is started by tunehost,
// speaks gRPC over hashicorp/go-plugin with it (see ../PROTOCOL.md), and ends
// with it. What it writes to stdout and stderr goes to the experiment's log.
//
// It is apart from package sdk so that plugins compiled to WebAssembly, and the
// bundled ones, need not carry gRPC.
package serve
