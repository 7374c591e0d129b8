;; Answers with bytes that are no message.
(module (;include searcher.inc;)
  (data (i32.const 32) "\00\ff\ff\ff\ff\ff\ff")
  (func $suggest (result i64) (i64.const 0x20_0000_0007)))
