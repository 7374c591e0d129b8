// Package host turns the loop: it carries events to the core and actions to
// plugins, processes and files.
//
// The way through it, which every event goes:
//
//	inbox ─▶ Loop.step: translate, record, apply ─▶ crew: consulting,
//	training, telling ─▶ plugins and files ─▶ inbox
//
// What has a room of its own knows nothing of this one: host/inbox and host/queue
// are what waits, host/consulting, host/training and host/telling are drivers,
// host/loading finds the plugins. Here is who puts them together: a session, of one host with one
// experiment.
//
// loop.go is the only caller of the machine, and host/clock where time comes from.
// Decisions about trials are the core's; nothing here makes one.
package host
