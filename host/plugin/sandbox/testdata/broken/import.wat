;; Imports a function that nobody has.
(module
  (import "env" "system" (func (param i32) (result i32)))
  (memory (export "memory") 1))
