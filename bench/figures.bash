# bench/figures.bash: how a figure is told. Sourced by bench/run.sh.
#   figure WORKLOAD NAME UNIT TARGET SAMPLE...   one sample a round; the median counts. TARGET: "<= 2", ">= 0.5" or
#                                                "" (none)
# Each is one line of the table on stdout and one JSON object in $results.

figures_header() {
    printf '%-8s %-34s %12s %25s  %-10s %s\n' WORKLOAD FIGURE MEDIAN 'MIN .. MAX' UNIT TARGET
}

figure() {
    local workload=$1 name=$2 unit=$3 target=$4 median least most met=''
    shift 4
    read -r median least most < <(printf '%s\n' "$@" | sort -g | awk '
        { v[NR] = $1 }
        END { printf "%.4g %.4g %.4g\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR] }')
    if [ -n "$target" ]; then
        met=$(awk -v is="$median" -v target="$target" 'BEGIN {
            split(target, t, " "); print (t[1] == "<=" ? is <= t[2] : is >= t[2]) ? "true" : "false" }')
        [ "$met" = true ] || missed+=("$workload: $name is $median $unit, wanted $target")
    fi
    printf '%-8s %-34s %12s %25s  %-10s %s\n' "$workload" "$name" "$median" "$least .. $most" "$unit" \
        "${target:+$target $([ "$met" = true ] && echo met || echo MISSED)}"
    {
        printf '{"at":"%s","commit":"%s","cpus":%d,"load":%s,' "$began" "$commit" "$(nproc)" "$load"
        printf '"quick":%s,"workload":"%s","figure":"%s","unit":"%s",' "$quick" "$workload" "$name" "$unit"
        printf '"median":%s,"min":%s,"max":%s,"samples":[%s],' "$median" "$least" "$most" "$(IFS=,; echo "$*")"
        printf '"target":"%s","met":%s}\n' "$target" "${met:-null}"
    } >>"$results"
}

# ratio A B: what a figure of a round is in terms of its reference in the same round
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6g\n", b == 0 ? 0 : a / b }'; }
