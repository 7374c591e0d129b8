// Package exec determines where trials run. A [Granter] passes the core's requests for leases to an
// executor plugin, which carries them out. It converts the plugin's events to events of the core. An
// [Executor] starts processes at the place that was granted. The description of a process
// (process.Program) does not depend on the place.
package exec
