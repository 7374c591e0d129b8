// Package jsonlines is the reporter behind `run --json`: one JSON object a line for each event. Fields
// may be added, never renamed or removed.
//
// Every object has event, event_number (events that are not written leave gaps) and time (RFC 3339,
// UTC, milliseconds). All but experiment_ended have trial (its id), number and attempt. Other fields:
//
//	trial_started      params, dir; restored_from: the iteration it continues from, if any
//	result             iteration, metrics (flattened), totals (if any), done,
//	                   time_total_s, time_this_iter_s, pid, host; again: true if an
//	                   earlier attempt reported this iteration; after a restore
//	                   iterations_since_restore, time_since_restore
//	checkpoint         iteration
//	trial_paused       reason
//	trial_ended        state (TERMINATED), reason; never_started: true if it ended
//	                   before it ever started
//	trial_failed       state (ERROR), error
//	trial_requeued     reason; error when a failure is retried
//	experiment_ended   state (finished, stopped, interrupted or failed), reason
//
// NaN and infinities are the strings "NaN", "Infinity" and "-Infinity". If a trial reports a metric
// twice in one result, the later value counts. To get only new events after a resume, pass only those
// to the reporter.
package jsonlines
