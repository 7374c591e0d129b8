// Package command is the trainable that is any program in any language: for
// each trial it starts the user's command in the trial's directory and takes
// the results that the program prints or reports.
//
// Users write it as `trainable: {command: [...]}` in the experiment file; the
// host opens it with the options that [Plugin]'s schema describes. Programs in
// Go that can be changed are better served by a trainable of their own.
//
// # Reporting
//
// A program reports in one of two ways, and the first way that brings a result
// is the one that counts, so that a program that prints what it reports is not
// counted twice. Printed lines are no results then, with a warning in the trial's
// log; reports on the channel are refused, with an answer that says what to do, as
// decisions and checkpoints would be lost silently. What was printed before a report
// is read before the report is taken, so that the outcome is the same in each trial.
//
//   - Printing. A line of stdout that is a JSON object with a number under an
//     objective's metric is a result; nested names are joined with "/". Its keys
//     iteration (or training_iteration), checkpoint and done have their meaning;
//     what is no number is kept beside the metrics. With the option metrics,
//     lines that match the regular expressions are results instead: the first
//     group is the number, or the whole match where there is none. A line that
//     matches an objective's expression is a result; values of other metrics
//     wait for the next such line.
//   - The channel: see package channel.
//
// A program that prints does not wait for decisions: up to ten thousand results wait in a
// queue. One that prints more is not read from until there is room, so that none is lost.
//
// Iterations that a program gives must grow. One that begins with 0 counts from 0, and 1
// is added; when one repeats or goes back, results are counted one by one from there on.
// The user is told, and the value reported_iteration keeps what was given. A result that
// is done is the last: the program has its grace to end by itself.
//
// # Hints
//
// What a program says that reports nothing, or not what is needed, is looked at, and the
// most likely mistake is told as a hint (sdk.Hinter): once, at the first trial that shows
// it. The objective under another name, JSON that is none, numbers in quotes, results on
// stderr, and a missing file that lies beside the experiment file are among them. A trial
// that goes on or was started again is told of what it prints alone: it may have reported
// all before.
//
// # Exporting
//
// Where the experiment file asks for exports, TUNEHOST_EXPORT_FORMATS has their
// names, separated by commas, and TUNEHOST_EXPORT_DIR is an empty folder in which
// the program leaves, by the time that it ends, a folder or file named like each
// format that it knows. They count when the program has exited with status 0, also
// after it was told to stop, and when a program that was told to stop handles SIGTERM
// and ends by it all the same (with status 143, or on Linux by sending it to itself). A
// program that a signal has cut off may have left half a model, and has exported none.
//
// # Stopping
//
// A program that is told "stop" or "pause" in the answer to a report has the grace
// time to clean up and exit by itself. The process group of all others gets SIGTERM
// at once. When the grace is over the group gets SIGKILL. A program that reports a
// checkpoint while it stops still has it taken. Cancelling the context kills at
// once. Nothing of a trial outlives it: whatever is left in the process group
// is killed when the program ends, and on Linux also processes that left the
// group, which this process adopts (it is a "child subreaper") and knows by
// their TUNEHOST_TRIAL_ID or their working directory.
//
// # Gangs
//
// With the option workers the command is started once for each bundle that the
// trial was granted, all on this machine. Each process has RANK, WORLD_SIZE,
// LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK, MASTER_ADDR and MASTER_PORT in its
// environment, and the devices of its own bundle. Rank 0 is the trial's program as
// described above; the others have no channel, and what they write goes to files
// of their own, named as its logs with the rank added (stdout.1). MASTER_PORT is
// free when the gang starts, and no other gang of this process has it; that rank 0
// gets it when it listens is likely, not certain.
//
// The first failing exit fails the attempt; the others get SIGTERM, and SIGKILL when
// the grace is over. When rank 0 has ended well, the others have half the grace to
// end by themselves, the rest of it after SIGTERM, and are killed then, which fails
// the attempt. Their ends do not matter once the attempt was told to stop, and an
// early exit status of 0 never does. Silence is that of rank 0.
//
// # Orphans
//
// On Linux programs are killed by the kernel when this process dies. That does
// not reach their children, so whoever runs this plugin should end it in order,
// by ending its stream, and look for what is left after a SIGKILL.
package command
