// Package host runs experiments: it prepares what the user means, composes an engine of it, and
// runs the engine until the experiment ends.
//
// The way of every event:
//
//	inbox ─▶ engine: encode, record, apply ─▶ ports: consult, attempt,
//	publish ─▶ plugins and files ─▶ inbox
//
// Package prepare finds out which experiment it is, and whether it begins or continues; package
// compose opens plugins and the record, and puts the drivers into the places that package engine
// has for them. Packages asktell, simulate and hosttest compose the same engine with other ports.
//
// Package engine is the only caller of the machine, and host/clock is where time comes from. The
// core decides about trials; nothing here does.
package host
