// Package chaos is a bundled trainable that misbehaves on order: it crashes,
// hangs, reports nonsense, refuses to stop, leaves children behind. Tests of
// hosts use it, examples show with it what happens, and users can try their
// experiment file's retries, deadlines and checkpoints before a long run. It
// trains nothing.
//
// With no knob turned it is a quiet trial of ten results, and a search has
// something to find: give it quality as a parameter.
//
//	trainable: {plugin: chaos, options: {iterations: 27, crash: exit, fail_times: 1}}
//	space:
//	  quality:  {uniform: [0, 1]}
//	  crash_at: {choice: [0, 0, 0, 5]}
//
// # Knobs
//
// docs/PLUGINS.md lists them. Each is an option and a parameter, but for the last four,
// which are options only; the parameter wins, so that trials can differ. Iterations count
// from 1; 0 as "at" means never. Times are seconds. It saves the iteration, and goes on from
// there.
//
// A crash of a shared process takes the other trials with it.
package chaos
