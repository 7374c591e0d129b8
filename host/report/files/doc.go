// Package files writes what trials report into their directories, for people and programs that read
// plain files. The record of the experiment is the journal; these files can be made again from it.
//
// # result.jsonl
//
// One JSON object a line for each result: first iteration, attempt, event_number and done, then the
// metrics, flattened, in the order in which they were reported, then trial_id, time_total_s,
// time_this_iter_s, timestamp (seconds since 1970), pid and host; after a restore also
// iterations_since_restore and time_since_restore (seconds). NaN and infinities are the strings "NaN",
// "Infinity", "-Infinity". Parameters are in params.json and not repeated. The exception is a trial
// that a scheduler continued with other parameters or from another's checkpoint: params.json then has
// those of its newest results, and trial_params those of each result from the first change on.
//
// A metric that is named like a field of the host, or like a total that the host keeps, is written as
// "metric/NAME". Of two metrics with one name the later counts.
//
// # progress.csv
//
// The same as a table (RFC 4180, but lines end with a line feed): the host's columns, then a column
// for each metric. A metric that comes later gets a column at the end; the file is atomically replaced
// by one with the longer header, once for all new metrics of a batch of results.
// A cell without a value is empty; special numbers are NaN, Infinity,
// -Infinity. At most maxColumns metrics have a column; the others are in result.jsonl only. Control
// characters in names become spaces.
//
// # error.txt
//
// One paragraph for each attempt that failed: a line with the time, the attempt and the event, then
// the message, indented. It stays when the trial is retried.
//
// # What restarts do
//
// A trial that continues from iteration k reports the iterations after k again. The lines of earlier
// attempts after k are removed when it starts (B-061). Results from before the trial continued from
// another's checkpoint or with other parameters stay.
//
// done of the last line becomes true when the trial ends well (B-012).
//
// # What crashes do
//
// Each line has the number of its event, and lines are in the order of these numbers. So a file shows
// what it contains, and any event can be repeated: what the file has is skipped, what it lacks is
// added, and an incomplete last line is removed first. Lines that somebody else has added are moved to a file beside
// it, whose name ends in .old. The file .reported in the experiment's
// directory has the number of the last event that is safely in all files; the host need not repeat
// events before it. Without that file it repeats everything, and the files are the same.
package files
