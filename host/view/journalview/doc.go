// Package journalview shows an experiment's record, one entry at a time, in words for people and as
// JSON for programs. Package view shows the resulting state of the experiment.
package journalview
