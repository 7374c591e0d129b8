;; Answers with 5 MiB.
(module (;include searcher.inc;)
  (func $suggest (result i64)
    (drop (memory.grow (i32.const 100)))
    (i64.const 0x10_0050_0000)))
