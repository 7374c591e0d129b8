// Package chaos is a bundled trainable that misbehaves on order: it crashes,
// hangs, reports nonsense, refuses to stop, leaves children behind. Tests of
// hosts use it, examples show with it what happens, and users can try their
// experiment file's retries, deadlines and checkpoints before a long run. It
// trains nothing.
//
// With no knob turned it is a quiet trial of ten results, and a search has
// something to find: give it quality as a parameter.
//
//	trainable: {plugin: chaos, options: {iterations: 27, crash: exit, fail_times: 1}}
//	space:
//	  quality:  {uniform: [0, 1]}
//	  crash_at: {choice: [0, 0, 0, 5]}
//
// # Knobs
//
// Each is an option and a parameter; the parameter wins, so that trials can
// differ. Iterations count from 1; 0 as "at" means never. Times are seconds.
//
// The curve:
//
//	iterations            results before it returns; 0 returns at once      10
//	sleep                 time before each result                           0
//	start_delay           time before the first one                         0
//	quality               what score tends to: after i iterations it is
//	                      quality·(1-exp(-i/5)); loss is 1-score            0.5
//	noise                 standard deviation of what is added to score,
//	                      drawn from the trial's seed and the iteration     0
//	score_metric          name of score (larger is better)                  score
//	loss_metric           name of loss (smaller is better)                  loss
//	metrics               further metrics, each a constant: {NAME: number}  {}
//	done                  mark the last result as the last                  false
//
// Broken results:
//
//	nan_at, inf_at        score and loss are NaN, or +Inf and -Inf          0
//	missing_metric_at     the result has no score                           0
//	never_report          no results at all                                 false
//
// Ends that are none, each before the result of its iteration:
//
//	crash_at              the process ends as crash says                    0
//	crash                 exit: with exit_code; kill: by SIGKILL; panic: of
//	                      the trial; panic_elsewhere: of another goroutine,
//	                      which nobody can recover                          exit
//	exit_code             0 to 255                                          1
//	fail_at               returns an error                                  0
//	hang_at               never reports again, but stops when told to       0
//	stubborn              hang_at does not stop when told to                false
//	fail_times            crash_at, fail_at and hang_at happen in the first
//	                      N attempts only (0: in all); alone it means that
//	                      fail_at is 1                                      0
//
// Stopping:
//
//	ignore_term           ignores SIGTERM, and when told to stop stays
//	                      until it is killed                                false
//	stop_delay            time that it cleans up after it was told to stop  0
//
// Checkpoints (it saves the iteration and goes on from there):
//
//	save_delay            time that a save takes                            0
//	save_fails            saves return an error                             false
//	restore_fails         checkpoints cannot be loaded                      false
//	own_checkpoint_every  results at multiples of it bring a checkpoint
//	                      that nobody asked for                             0
//
// Bad neighbours:
//
//	fork_children         processes to start, which live ten minutes and
//	                      hold on to its stdout and stderr                  0
//	detach_children       they leave its session and process group          false
//	flood_output          lines to print on stdout and on stderr before
//	                      each result                                       0
//	garbage               log lines of nonsense before each result          0
//	big_log               bytes of one log line before each result          0
//	memory_mb             memory to fill while it trains, in MiB            0
//
// # Options only
//
//	shared                one process may run many trials at a time         false
//	reusable              one process may run trial after trial             true
//	saves                 it can save                                       true
//	any_params            parameters that are no knobs are not an error     false
//
// A crash of a shared process takes the other trials with it.
package chaos
