;; Answers with an address outside of its memory.
(module (;include searcher.inc;)
  (func $suggest (result i64) (i64.const 0x7fff_0000_0000_0010)))
