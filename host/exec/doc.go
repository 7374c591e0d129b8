// Package exec says where trials run. A [Granter] has an executor plugin allocate leases: what
// the core asks of an engine is done by the plugin, and what the plugin tells becomes events of
// the core. An [Executor] starts processes at the place that was granted. What a process is
// (process.Program) does not depend on that.
package exec
