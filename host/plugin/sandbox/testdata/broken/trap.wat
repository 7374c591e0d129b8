;; Traps.
(module (;include searcher.inc;)
  (func $suggest (result i64) unreachable))
