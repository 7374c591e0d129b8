// Package engine is the event loop of an experiment: it records what happened, applies it to the core,
// and passes the core's actions to its ports.
//
//	inbox ─▶ Engine.step: encode, record, apply ─▶ Ports
//
// There is one engine for every way to run an experiment. A live host, ask and tell, the simulator and
// the test harness differ only in the ports that they give it when they make it. The engine does not
// know which of them it serves.
//
// The engine applies what it has recorded through core/history, as each reader of the record does, so
// that reporters receive the same live as when the record is read again.
package engine
