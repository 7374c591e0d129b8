// Package chronicle tells what an experiment's record says, one record at a
// time, in words for people and as JSON for programs. It is for looking: what an
// experiment has become by its record is package view's to say.
package chronicle
