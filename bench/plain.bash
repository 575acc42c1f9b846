# plain: one phase of INSERTs, beside the ceiling.

workload_plain() {
    local tasks=50000
    [ "$quick" = false ] || tasks=20000
    ceiling_rounds plain 1 $tasks '>= 0.8'
    ceiling_rounds plain 1 $tasks '>= 0.8' params
}
