// Package command is the trainable for any program in any language: for each trial it starts the
// user's command in the trial's directory and receives the results that the program prints or
// reports.
//
// Users write `trainable: {command: [...]}` in the experiment file; the host opens it with the
// options of [Plugin]'s schema. For programs in Go that can be changed, a trainable plugin is
// better.
//
// # Reporting
//
// A program reports in one of two ways, and the first result decides which one counts, so that a
// program that prints its reports is not counted twice. With reports, printed lines are not
// results, with a warning in the trial's log. With printed results, reports on the channel are
// refused, with an answer that says what to do, because decisions and checkpoints would be lost
// silently. Output before a report is read before the report is processed, so that the outcome is
// the same in each trial.
//
//   - Printing. A line of stdout that is a JSON object with a number for an objective's metric is
//     a result; nested names are joined with "/". Its keys iteration (or training_iteration),
//     checkpoint and done have their meaning; values that are not numbers are stored with the
//     metrics. With the option metrics, lines that match the regular expressions are results
//     instead: the number is the first group, or the whole match if there is none. A line that
//     matches an objective's expression is a result; values of other metrics wait for the next
//     such line. Of a line of more than 32 KiB, expressions see its first and its last 16 KiB.
//   - The channel: see package channel.
//
// A program that prints does not wait for decisions: up to ten thousand results wait in a queue. If
// it prints more, reading pauses until there is room, so that none is lost.
//
// Iterations of a program must increase. If they start at 0, 1 is added. If one repeats or
// decreases, results are counted from there on; the user gets a warning, and the value
// reported_iteration has the reported number. A result with done is the last one: the program has
// its grace time to exit.
//
// # Hints
//
// If a program reports no results, or results without the objective, its output is examined, and
// the most likely mistake is shown as a hint (sdk.Hinter) once, at the first such trial. Examples
// are the objective under another name, invalid JSON, numbers in quotes, results on stderr, and a
// missing file that lies beside the experiment file. A trial that continues or was restarted gets
// hints only about its printed lines: it may have reported everything before.
//
// # Exporting
//
// If the experiment file requests exports, TUNEHOST_EXPORT_FORMATS has their names, separated by
// commas, and TUNEHOST_EXPORT_DIR is an empty folder. Before it ends, the program writes a folder
// or file there, named like each format that it knows. They count if the program exits with status
// 0, even after a stop, and if a stopped program handles SIGTERM and still ends by it (with status
// 143, or on Linux by sending it to itself). A program killed by a signal may have written half a
// model, so it has exported nothing.
//
// # Stopping
//
// A program that is told "stop" or "pause" in the answer to a report has the grace time to clean up
// and exit. The process group of any other program gets SIGTERM at once. After the grace time the
// group gets SIGKILL. A checkpoint reported during the stop is still stored. Cancelling the context
// kills at once. No process of a trial outlives it: the rest of the process group is killed when
// the program ends. On Linux this includes processes that left the group, which this process adopts
// (it is a "child subreaper") and recognises by their TUNEHOST_TRIAL_ID or their working directory.
//
// # Gangs
//
// With the option workers the command is started once for each granted bundle, all on this machine.
// Each process has RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK, MASTER_ADDR and
// MASTER_PORT in its environment, and the devices of its own bundle. Rank 0 is the trial's program
// as described above; the others have no channel, and their output goes to separate files, named
// like the trial's logs with the rank added (stdout.1). MASTER_PORT is free when the gang starts,
// and no other gang of this process has it; another program could still take it before rank 0
// listens.
//
// The first exit with an error fails the attempt; the others get SIGTERM, and SIGKILL after the
// grace time. When rank 0 has succeeded, the others have half the grace time to exit, the other
// half after SIGTERM, and are then killed, which fails the attempt. Their exits do not matter after
// a stop, and an early exit with status 0 never does. Silence is measured for rank 0.
//
// # Orphans
//
// On Linux the kernel kills programs when this process dies, but not their children. So the host
// should end this plugin by ending its stream, and look for remaining processes after a SIGKILL.
package command
