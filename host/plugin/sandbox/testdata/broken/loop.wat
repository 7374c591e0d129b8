;; An endless loop in a call.
(module (;include searcher.inc;)
  (func $suggest (result i64) (loop (br 0)) unreachable))
