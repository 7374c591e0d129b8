;; Takes all the memory that it can get, writes to each page, and answers with status 10
;; and the number of pages as its reason.
(module (;include searcher.inc;)
  (func $suggest (result i64)
    (local $n i32)
    (loop $more
      (i32.store (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 4)) (i32.const 1))
      (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (local.set $n (memory.size))
    (i32.store8 (i32.const 32) (i32.const 10))
    (i32.store8 (i32.const 33) (i32.add (i32.const 48) (i32.div_u (local.get $n) (i32.const 1000))))
    (i32.store8 (i32.const 34) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 100)) (i32.const 10))))
    (i32.store8 (i32.const 35) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 10)) (i32.const 10))))
    (i32.store8 (i32.const 36) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
    (i64.const 0x20_0000_0005)))
