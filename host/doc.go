// Package host turns the loop: it carries events to the core and actions to
// plugins, processes and files.
//
// The way through it, which every event goes:
//
//	inbox ─▶ Loop.step: translate, record, apply ─▶ crew: searching,
//	scheduling, training, publishing ─▶ plugins and files ─▶ inbox
//
// loop.go is the only caller of the machine, and host/clock where time comes from.
// Decisions about trials are the core's; nothing here makes one.
package host
