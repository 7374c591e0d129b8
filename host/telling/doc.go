// Package telling tells reporters what happened, and when: a Narrator makes
// events of each step of the experiment's history, live, after a restart and as it is
// read again; a Publisher tells them once the record of them is safe;
// and a Teller brings them to one reporter at its own pace, also by reading the record
// again (Following). A Relay is a reporter that is a plugin. The Board is what a table
// shows.
//
// What reporters do with events is host/report's; the session of package host puts the
// parts together. Nothing here knows the session.
package telling
