;; Imports a function of the host's with another type.
(module
  (import "tunehost_v1" "log" (func (param i64)))
  (memory (export "memory") 1))
