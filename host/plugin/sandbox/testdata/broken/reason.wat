;; Gives a reason of two lines with bytes that are no text.
(module (;include searcher.inc;)
  (data (i32.const 32) "\0aone\0atwo \1b[31m\ff")
  (func $suggest (result i64) (i64.const 0x20_0000_000f)))
