// Package host runs experiments: it opens what an experiment needs, makes an engine of
// it, and turns the engine until the experiment ends.
//
// The way of every event:
//
//	inbox ─▶ engine: encode, record, apply ─▶ ports: consulting, training,
//	telling ─▶ plugins and files ─▶ inbox
//
// The rooms below know nothing of this package. A session is one host's time with one
// experiment: it opens plugins and the record, and ports.go puts the drivers in the
// places that the engine has for them. Ask and tell, Simulate and Rig put other ports
// there.
//
// Package engine is the only caller of the machine, and host/clock is where time comes
// from. The core decides about trials; nothing here does.
package host
