;; Wants a memory from outside.
(module (import "env" "memory" (memory 1)))
