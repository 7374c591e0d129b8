// Package chaos is a bundled trainable that misbehaves on request: it crashes, hangs, reports
// invalid results, refuses to stop, leaves children behind. Tests of hosts and examples use it, and
// users can test retries, deadlines and checkpoints of their experiment file before a long run. It
// trains nothing.
//
// By default it is a normal trial of ten results. For a search with an optimum, use quality as a
// parameter.
//
//	trainable: {plugin: chaos, options: {iterations: 27, crash: exit, fail_times: 1}}
//	space:
//	  quality:  {uniform: [0, 1]}
//	  crash_at: {choice: [0, 0, 0, 5]}
//
// # Options
//
// docs/PLUGINS.md lists them. Each is an option and a parameter, except for the last four, which
// are options only. A parameter overrides the option, so trials can differ. Iterations start at 1;
// 0 as "at" means never. Times are in seconds. A checkpoint contains the iteration, from which a
// trial continues.
//
// A crash of a shared process also ends the other trials in it.
package chaos
