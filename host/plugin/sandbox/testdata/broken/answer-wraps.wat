;; Answers with an address and a length whose sum is 16 in 32 bits.
(module (;include searcher.inc;)
  (func $suggest (result i64) (i64.const 0xffff_fff0_0000_0020)))
