;; Begins with 4 GiB.
(module (memory (export "memory") 65536))
