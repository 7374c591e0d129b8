;; A table of 800 MB, which is not of the memory that it may have.
(module
  (table 100000000 funcref)
  (memory (export "memory") 1))
