;; Takes tables until there is none to have.
(module
  (table 1 externref)
  (;include searcher.inc;)
  (func $suggest (result i64)
    (loop (br_if 0 (i32.ne (table.grow (ref.null extern) (i32.const 10000000)) (i32.const -1))))
    (i64.const 0x10_0000_0001)))
