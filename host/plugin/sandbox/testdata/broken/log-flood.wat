;; Writes a million lines to the log.
(module
  (import "tunehost_v1" "log" (func $log (param i32 i32 i32)))
  (;include searcher.inc;)
  (data (i32.const 64) "water water everywhere")
  (func $suggest (result i64)
    (local $n i32)
    (loop
      (call $log (i32.const 1) (i32.const 64) (i32.const 22))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if 0 (i32.lt_u (local.get $n) (i32.const 1000000))))
    (i64.const 0x10_0000_0001)))
