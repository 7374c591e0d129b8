;; An endless loop in _initialize.
(module (;include searcher.inc;)
  (func $suggest (result i64) (i64.const 0))
  (func (export "_initialize") (loop (br 0))))
