;; Has memory for requests where there is none.
(module
  (memory (export "memory") 4)
  (func (export "tunehost_abi") (result i32) (i32.const 1))
  (func (export "tunehost_alloc") (param i32) (result i32) (i32.const -8))
  (func (export "tunehost_invoke") (param i32 i32) (result i64) (i64.const 0)))
