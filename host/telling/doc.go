// Package telling tells reporters what happened, and when: a Publisher tells events
// once the record of them is safe, and a Teller brings them to one reporter at its own
// pace, also by reading the record again. A Relay is a reporter that is a plugin.
//
// What an event is is host/view's, what reporters do with events host/report's; the
// session of package host puts the parts together. Nothing here knows the session.
package telling
