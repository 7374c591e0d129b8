;; Answers with a status that is the connection's to give: deadline exceeded.
(module (;include searcher.inc;)
  (data (i32.const 32) "\04too late")
  (func $suggest (result i64) (i64.const 0x20_0000_0009)))
