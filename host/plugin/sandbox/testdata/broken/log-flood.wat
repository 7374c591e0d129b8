;; Writes 30 MB of lines to the log.
(module
  (import "tunehost_v1" "log" (func $log (param i32 i32 i32)))
  (;include searcher.inc;)
  (func $suggest (result i64)
    (local $n i32)
    (memory.fill (i32.const 131072) (i32.const 119) (i32.const 1000))
    (loop
      (call $log (i32.const 1) (i32.const 131072) (i32.const 1000))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if 0 (i32.lt_u (local.get $n) (i32.const 30000))))
    (i64.const 0x10_0000_0001)))
