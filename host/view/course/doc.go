// Package course keeps what has happened in an experiment in a compact form: the results of all trials, when
// and where trials ran, and what the scheduler decided. It is built by one reading of the record, and continues with
// what is appended, so that a plot of a large experiment needs no further reading. It knows no files, names of trials
// or times of day: package view adds those.
package course
