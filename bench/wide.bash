# wide: ten phases of many INSERTs, beside the ceiling.

workload_wide() {
    local tasks=5000
    [ "$quick" = false ] || tasks=2000
    ceiling_rounds wide 10 $tasks '>= 0.8'
    ceiling_rounds wide 10 $tasks '>= 0.8' params
}
