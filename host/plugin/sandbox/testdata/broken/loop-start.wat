;; An endless loop in the start function.
(module (;include searcher.inc;)
  (func $suggest (result i64) (i64.const 0))
  (func $start (loop (br 0)))
  (start $start))
