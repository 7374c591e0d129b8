;; Divides by zero.
(module (;include searcher.inc;)
  (func $suggest (result i64) (i64.div_s (i64.const 1) (i64.const 0))))
