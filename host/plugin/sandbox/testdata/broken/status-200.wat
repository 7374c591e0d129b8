;; Answers with a status that does not exist.
(module (;include searcher.inc;)
  (data (i32.const 32) "\c8what?")
  (func $suggest (result i64) (i64.const 0x20_0000_0006)))
