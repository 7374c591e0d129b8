// Package web has the pages of the dashboard: a program for browsers, written in TypeScript in src, that reads the
// HTTP API of host/serve. It is bundled into dist, which is committed, so that building tunehost needs no Node.
//
// In src, source.ts is the one way to the data: pages know the interface Source, whose implementations read a live
// server or a report that has the data inside. `make generate` bundles (bundle), `make web` checks types and that
// dist is what the sources give. host/web/browser tests the pages in a browser.
package web
