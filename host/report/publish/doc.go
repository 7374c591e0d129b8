// Package publish passes events to reporters: a Publisher passes them on once their record is safe,
// and a Subscriber passes them to one reporter at its own speed, if necessary by reading the record again.
// A PluginReporter is a reporter that is a plugin.
//
// Package view defines events, package report what reporters do with them, and package host puts the
// parts together.
package publish
