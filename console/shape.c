/* The shapes of answers. The statements in sql/console/ and the functions that they call make the
 * answers, so a member that is added there is described here, or in the table of routes if the
 * object is the answer of one route alone. */
#include "console/shape.h"

#include "base/str.h"
#include "console/member.h"

#include <string.h>

struct shape {
    const char *name, *members, *meaning;
};

static const struct shape shapes[] = {
    {"List", "next:text? count:int capped:bool",
     "a page of a list: `next` is the parameter `after` of the next page, null on the last; "
     "`count` "
     "is counted to 10,000, `capped`: there are more"},
    {"Problem", "type:text title:text status:int detail:text hint~:text field~:text code~:text",
     "why a request was refused (RFC 9457)"},

    {"QueueStatus", "(open|paused|halted)", "whether a queue is worked on"},
    {"OnFailure", "(stop|continue|pause)", "what a failed task does to its run"},
    {"RunOrder", "(serial|concurrent)", "order between runs"},
    {"RunStatus",
     "(Publishing|Published|Running|Paused|Completed|PartiallyCompleted|Failed|Cancelled)",
     "the state of a run"},
    {"TaskStatus",
     "(Pending|Processing|Error|Failed|Completed|Cancelled|Paused|Terminated|PartiallyCompleted)",
     "the state of a task, or how an attempt has ended; Pending: the attempt was lost"},
    {"TaskType", "(sql|command|http|external)", "what a task is"},
    {"Outcome", "(fired|skipped|missed|error)", "the outcome of a time of a job"},
    {"JobMode", "(scheduled|triggered|manual|watch)", "how a job comes to fire"},
    {"JobState",
     "(ok|running|manual|disabled|paused|silenced|blocked|stuck|missed|failed|never|late)",
     "how a job does"},
    {"AlertKind", "(missed|stuck|failed|late|never|blocked|absent)", "what an incident is about"},
    {"JobEventKind",
     "(fired|skipped|missed|completed|error|zombie|changed|alert|recovered|late|stuck)",
     "the kind of a line of a job's log"},
    {"Overlap", "(skip|queue_one|allow|cancel)", "the rule while a run of the job has not ended"},
    {"ReplayMode", "(missing|failed|all)", "which messages a replay runs"},
    {"TokenRole", "(monitor|operator|ping)", "what a token may do"},

    {"Session",
     "login:text monitor:bool operator:bool signed_in:bool csrf:text show_payloads:bool "
     "version:text idle_seconds:int limit_seconds:int",
     "the visitor and its rights; `csrf` is empty without a web session"},
    {"Hidden", "reason:text hint:text",
     "why values are hidden, and the statement that changes that"},
    {"ClusterFigures", "database:text queues:int halted:int open_runs:int alerts:int executors:int",
     "of a database, at most five seconds old"},
    {"Cluster",
     "name:text path:text default:bool here:bool reachable:bool signed_in:bool "
     "figures:ClusterFigures?",
     "a database that the console serves"},

    {"Trouble", "reason:text sentence:text since:time? helps:text?",
     "a reason that stops a queue, and what helps"},
    {"ExplainLine", "+Trouble about:text?", "a reason why something does not continue"},
    {"OverviewQueue",
     "queue:text status:QueueStatus reason:text? max_readers:int target:int in_use:int "
     "open_run:uuid? open_run_name:text? open_order:int? pending:int processing:int error:int "
     "failed:int rejected:int counted_all:bool lag:int? oldest_waiting_s:number? "
     "throughput:number?[]? barrier_ms:number?[] executors:int? active:bool troubles:Trouble[]",
     "a queue at a glance; the counts are of the run that has been open for longest"},
    {"OverviewAlert",
     "alert_id:int job:text? kind:AlertKind since:time? opened_at:time text:text? "
     "acknowledged_by:text? acknowledged_at:time?",
     "an open incident"},
    {"NextFiring", "job:text schedule:text at:time", "when a job fires next"},

    {"Queue",
     "name:text queue:text topic:text partition:int next_offset:int max_readers:int in_use:int "
     "on_failure:OnFailure runs:RunOrder active_runs:int rejected:int halted_reason:text? "
     "halted_detail:text? lag:int? executors:int?",
     "a queue; executors: null if they cannot be seen"},
    {"ListedQueue", "+Queue state:QueueStatus", "a queue in the list"},
    {"QueueDetail",
     "+Queue status:QueueStatus partitions:int? cursor:int max_attempts:int retry_intervals:text "
     "retry_on:text lookahead:int max_lost:int external_lease_s:number dead_letters:bool "
     "events:bool paused:bool paused_by:text? paused_at:time? paused_reason:text? "
     "halted_remedy:text? halted_at:time? cluster_id:text? birthmark:uuid? blocked_offset:int? "
     "blocked_at:time? outbox:int enqueued:int outbox_trouble:text? kept:text swept_at:time? "
     "swept_detail:text? created_at:time updated_at:time",
     "one queue with its settings and state"},
    {"ReadersPoint", "at:time target:int? in_use:number tasks:number barrier_ms:number?",
     "a queue in a part of the time"},
    {"Warning", "text:text hint:text", "a finding and its remedy"},

    {"Run",
     "queue:text run_id:uuid name:text? status:RunStatus tasks:int pending:int processing:int "
     "error:int completed:int failed:int cancelled:int counted_all:bool order:int? "
     "published_at:time? started_at:time? ended_at:time? phases:int rejected:int "
     "on_failure:OnFailure implicit:bool reason:text? run_no:int end_tasks:int? end_phases:int? "
     "swept_at:time? swept:bool published_tasks:int? started_by:text? seconds:number? "
     "paused_by:text? paused_at:time? cancelled_by:text? cancelled_at:time? job:text?",
     "a run and how far it is"},
    {"RunRefused", "run_id:uuid detail:text hint:text?", "a run with which it was not possible"},
    {"Phase",
     "run_id:uuid queue:text run_no:int phase_id:int order:int previous_order:int "
     "state:(done|open|waiting) tasks:int finished:int processing:int completed:int failed:int "
     "cancelled:int error:int counted_all:bool opened_at:time? done_at:time? first_start:time? "
     "last_end:time? seconds:number? barrier_s:number?",
     "a phase of a run"},
    {"Bar",
     "task_id:int name:text? attempt:int? status:TaskStatus start_s:number? end_s:number? "
     "waited_s:number? waited_for:(reader|retry)?",
     "an attempt in seconds after the start of its run, or a task without one"},
    {"Straggler", "task_id:int name:text? seconds:number", "the task of a phase that ended last"},
    {"GanttPhase",
     "order:int order_text~:text opened_at:time? done_at:time? tasks:int? status:object? "
     "failed~:int opened_s:number? start_s:number? end_s:number? barrier_s:number? "
     "busy_share:number? straggler:Straggler? bars:Bar[]? density:number[]?",
     "a phase as it is drawn, in seconds after the start of its run; status: how many tasks are in "
     "each state; failed: instead of it, when it is drawn from a sample"},
    {"Gantt",
     "run_id:uuid queue:text name:text? status:RunStatus started_at:time ended_at:time? now:time "
     "length_s:number readers:int times_hidden:bool sampled~:bool phases_hidden~:int "
     "phases:GanttPhase[]",
     "a run as it is drawn; sampled: from a sample of its tasks"},
    {"BarsPhase", "order:int bars:Bar[]", "the bars of a phase"},

    {"TaskRow",
     "task_id:int order:int seq:int? name:text? type:TaskType status:TaskStatus step:text? "
     "attempt:int max_attempts:int lost:int started_at:time? seconds:number? scheduled_for:time? "
     "error:text? executor_id:uuid? cancelled_by:text?",
     "a task and its current attempt, or the last one"},
    {"Task", "+TaskRow kafka_offset:int", "a task of a run"},
    {"ListedTask", "+Task queue:text run_id:uuid run_name:text?", "a task in the list of all"},
    {"TaskDetail",
     "+TaskRow queue:text run_id:uuid run:text? ended_at:time? offset:int key:text? "
     "condition:text? skipped:text? needs:text[]? worker:text? lease_until:time? rows:int? "
     "notices:text? traceparent:text? host:text? backend_pid:int? payload:text? response:text? "
     "hidden:bool",
     "one task; run: the name of its run; hidden: its payload and texts are null"},
    {"TaskAttempt",
     "attempt:int status:(lost|Error|Failed|Completed|Cancelled|Terminated|Paused) "
     "executor_id:uuid? worker:text? started_at:time? ended_at:time seconds:number? "
     "sqlstate:text? error:text? detail:text? hint:text? context:text? rows:int? notices:text?",
     "an attempt of a task that did not end it well"},
    {"Attempt",
     "task_id:int order:int seq:int? name:text? type:TaskType attempt:int status:TaskStatus "
     "started_at:time? ended_at:time? seconds:number? sqlstate:text? error:text? "
     "executor_id:uuid? worker:text? rows:int?",
     "an attempt of a task of a run"},

    {"Event",
     "event_id:int at:time event:text kind:text queue:text? run_id:uuid? run_name~:text? "
     "order:int? task_id:int? executor_id:uuid? actor:text detail:text?",
     "a line of the event log; kind: the same as event"},

    {"Job",
     "job:text queue:text? mode:JobMode enabled:bool schedules:int next_at:time? "
     "last_scheduled:time? last_outcome:Outcome? last_status:RunStatus? open_run:uuid? "
     "overlap:Overlap version:int file:text? changed_at:time changed_by:text drifted:bool "
     "description:text?",
     "a job and its state"},
    {"ListedJob", "+Job state:JobState? is_problem:bool? detail:text? words:text?",
     "a job in the list; the last four are null in a page of more than 100"},
    {"JobDetail", "+Job definition:object? hidden:bool", "one job; hidden: definition is null"},
    {"JobRequest",
     "schedule:text? scheduled_for:time source:text run_id:uuid next_try:time failing_since:time?",
     "a firing that waits for a dispatcher, because it has SQL of the job's own"},
    {"JobHealth",
     "job:text queue:text? state:JobState is_problem:bool since:time? detail:text? next_at:time? "
     "open_run:uuid? last_run:uuid? last_status:RunStatus?",
     "how a job does"},
    {"Schedule",
     "job:text schedule:text kind:text expr:text? zone:text? rule:object words:text? enabled:bool "
     "next_at:time? misfire:(once|all|skip) catchup_window_s:number jitter_s:number "
     "grace_s:number? waits_for:time?",
     "a schedule of a job; rule: its fields as they were written"},
    {"Trigger",
     "job:text trigger:text relation:text created_column:text? pending:text? mark:text? "
     "hidden:bool check_every_s:number threshold:int? idle_s:number? debounce_s:number? "
     "max_wait_s:number? min_between_s:number? enabled:bool next_at:time? looked_at:time? "
     "rows:int? oldest_at:time? newest_at:time? failures:int error:text? failing_since:time? "
     "fired_at:time?",
     "a trigger of a job and its last look; hidden: its SQL is null"},
    {"CalendarJob", "job:text words:text[] often:bool until:time? quarters:int[][]",
     "when a job fires in the coming week; quarters: a quarter of an hour since 1970, and how "
     "often"},
    {"Firing", "at:time job:text schedule:text local:text", "a time of a job that is to come"},
    {"Occurrence",
     "occurrence_id:int job:text schedule:text? scheduled_for:time fired_at:time? lateness:number? "
     "outcome:Outcome source:text reason:text? run_id:uuid? status:RunStatus? ended_at:time? "
     "duration:number? missed_from:time? missed_count:int dispatcher:text rows:int?",
     "a time of a job that was decided"},
    {"JobDay",
     "day:date times:int fired:int completed:int failed:int skipped:int missed:int errors:int "
     "passed:int seconds:number longest:number? latest:number?",
     "sums of the times of a job of a day (UTC)"},
    {"JobLine",
     "job_event_id:int at:time job:text event:JobEventKind kind:JobEventKind source:text? "
     "message:text? run_id:uuid? duration:number? rows:int?",
     "a line of the log of jobs; kind: the same as event"},
    {"Alert",
     "alert_id:int job:text? kind:AlertKind since:time? opened_at:time last_seen_at:time "
     "text:text? "
     "acknowledged_by:text? acknowledged_at:time? note:text? closed_at:time? "
     "ended:(recovered|changed|disabled|paused|silenced|deleted)?",
     "an incident of a job; job null: of the monitor itself"},
    {"ListedAlert", "+Alert undelivered:int", "an incident in the list"},
    {"Notice",
     "notice_id:int alert_id:int receiver:text notice:(opened|reminder|closed) number:int "
     "made_at:time attempts:int delivered_at:time? next_attempt_at:time? error:text? "
     "sent_by:text?",
     "a notice of an incident to a receiver"},
    {"Decision",
     "schedule:text? would_fire:bool verdict:text reason:text scheduled_for:time? "
     "next_scheduled_run:time? tasks:object[]? pending_rows:int? oldest_row_age:number? "
     "advice:text?",
     "what the dispatcher's next cycle does with a schedule"},
    {"Backfilled",
     "schedule:text scheduled_for:time action:(fire|wait|skip|leave|request) detail:text? "
     "run_id:uuid?",
     "a time that a backfill looked at"},
    {"JobApplied", "job:text action:(create|change|unchanged|kept|delete) detail:text?",
     "the outcome for a job of a list"},
    {"RuleTime", "at:time local:text", "a time of a rule, and the clock in its zone"},
    {"ClockChange", "at:time effect:text", "a change of the clock, and what it does to a rule"},

    {"Executor",
     "executor_id:uuid host:text pid:int version:text queues:text[] readers:int readers_limit:int? "
     "in_use:int started_at:time heartbeat_at:time alive:bool drain_by:text? drain_at:time? "
     "memory_bytes:int? trouble:text? trouble_at:time? "
     "state:(ok|held|draining|no Kafka|no login|no writes|frozen|gone)",
     "an executor that has not ended"},
    {"Lock",
     "kind:(phase|slot|executor|producer|migrator|relay|replay|sweep|dispatch) "
     "mode:(shared|intent|exclusive) state:(held|waiting) granted:bool queue:text? run_id:uuid? "
     "order:int? phase_id:int? slot_no:int? executor_id:uuid? pid:int? login:text? may_end:bool "
     "application_name:text? host:text? since:time? age_s:number? blocked_by:int[] query:text?",
     "a lock of Lockstep that a session holds or awaits"},
    {"Rejected",
     "rejected_id:int queue:text offset:int run_id:uuid? seq:int? reason:text detail:text "
     "bytes:int? "
     "rejected_at:time dead_lettered_at:time? redrive_run:uuid? redriven_at:time? "
     "redriven_by:text?",
     "a message that could not become a task"},
    {"Header", "name:text value:text? value_hex:text?", "a header of a message"},
    {"RejectedDetail",
     "+Rejected hidden:bool raw_text:text? raw_hex:text? key:text? headers:Header[]",
     "one rejected message and its text; hidden: that is null"},
    {"Redriven",
     "queue:text messages:int run_id~:uuid ends~:int preview~:bool rejected_ids~:int[] order~:int "
     "task~:object",
     "the messages that were published again; with `preview`, those that would be"},
    {"ReplayCounts", "run_again:int skipped:int", "messages of a replay"},
    {"ReplayLine", "run_id:uuid? order:int action:text why:text messages:int meaning:text",
     "what a replay does with messages of a phase"},
    {"Replay",
     "replay_id:int queue:text status:(Running|Completed|Abandoned) mode:ReplayMode "
     "from_offset:int to_offset:int cursor:int run_id:uuid? order:int? made:int reopened:int "
     "reason:text actor:text started_at:time ended_at:time? interrupted:bool?",
     "a replay"},

    {"Measured",
     "readers:int makespan_s:number replayed_s:number work_s:number barrier_s:number "
     "handover_s:number phases:number",
     "of the runs that were read, on average"},
    {"Advice", "readers:int makespan_s:number cost_s:number idle:number",
     "what so many readers would need; idle: the share of their time"},
    {"AdviceStraggler", "run_id:uuid order:int task_id:int seconds:number readers:int",
     "a phase that more readers than these would not shorten, and its longest task"},

    {"Setting",
     "section:text key:text value:text origin:(default|file|environment|setting|option) where:text",
     "a setting and where it comes from"},
    {"Token",
     "name:text role:TokenRole publishes:bool created_by:text created_at:time expires_at:time? "
     "last_used_at:time? revoked_by~:text? revoked_at:time? state:(valid|expired|revoked)",
     "a token of a program"},
    {"Check", "check:text status:(ok|warn|FAIL) text:text hint:text?",
     "a finding of `lockstep check`"},
    {"DatabaseSession",
     "pid:int login:text? application_name:text? address:text? since:time? last_used:time? "
     "state:text?",
     "a session of Lockstep with PostgreSQL"},
    {"Versions", "PostgreSQL:text executors:text?", "versions of programs"},
    {"Database", "name:text size_bytes:int", "the database"},
};

/* The types whose names are in no table of shapes. */
static const struct plain {
    const char *name, *type, *format;
} plains[] = {{"text", "string", NULL},   {"int", "integer", "int64"},
              {"number", "number", NULL}, {"bool", "boolean", NULL},
              {"uuid", "string", "uuid"}, {"time", "string", "date-time"},
              {"date", "string", "date"}, {"object", "object", NULL}};

static void add_text(cJSON *schema, const char *name, const char *value)
{
    (void)cJSON_AddStringToObject(schema, name, value);
}

static cJSON *list_of(cJSON *schema, const char *name)
{
    cJSON *list = cJSON_GetObjectItem(schema, name);
    return list != NULL ? list : cJSON_AddArrayToObject(schema, name);
}

static void add_item(cJSON *schema, const char *name, cJSON *item)
{
    (void)cJSON_AddItemToArray(list_of(schema, name), item);
}

/* words: "(a|b)", with the parentheses. */
static void add_words(cJSON *schema, const char *words)
{
    add_text(schema, "type", "string");
    for (const char *at = words; *at == '(' || *at == '|';) {
        STR_AUTO word = {0};
        size_t len = strcspn(++at, "|)");
        str_add(&word, at, len);
        add_item(schema, "enum", cJSON_CreateString(word.data));
        at += len;
    }
}

static void add_reference(cJSON *schema, const char *name, size_t len)
{
    STR_AUTO path = {0};
    str_text(&path, "#/components/schemas/");
    str_add(&path, name, len);
    add_text(schema, "$ref", path.data);
}

/* The value of this schema, or null. A reference has no place for that and becomes one of two. */
static void or_null(cJSON *schema)
{
    cJSON *type = cJSON_DetachItemFromObject(schema, "type");
    if (type != NULL) {
        add_item(schema, "type", type);
        add_item(schema, "type", cJSON_CreateString("null"));
        if (cJSON_GetObjectItem(schema, "enum") != NULL)
            add_item(schema, "enum", cJSON_CreateNull());
        return;
    }
    cJSON *named = cJSON_CreateObject(), *null = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(named, "$ref", cJSON_DetachItemFromObject(schema, "$ref"));
    add_text(null, "type", "null");
    add_item(schema, "anyOf", named);
    add_item(schema, "anyOf", null);
}

static void add_plain(cJSON *schema, const char *type, size_t len)
{
    for (size_t i = 0; i < sizeof plains / sizeof *plains; i++) {
        if (strncmp(plains[i].name, type, len) != 0 || plains[i].name[len] != '\0')
            continue;
        add_text(schema, "type", plains[i].type);
        if (plains[i].format != NULL)
            add_text(schema, "format", plains[i].format);
    }
}

static void add_type(cJSON *schema, const char *type, size_t len)
{
    if (type[len - 1] == '?') {
        add_type(schema, type, len - 1);
        or_null(schema);
    } else if (type[len - 1] == ']') {
        add_text(schema, "type", "array");
        add_type(cJSON_AddObjectToObject(schema, "items"), type, len - strlen("[]"));
    } else if (*type == '(') {
        add_words(schema, type);
    } else if (*type >= 'A' && *type <= 'Z') {
        add_reference(schema, type, len);
    } else {
        add_plain(schema, type, len);
    }
}

/* The length of a member: words of a type may have blanks in them. */
static size_t length_of(const char *member)
{
    size_t len = strcspn(member, " (");
    if (member[len] == '(')
        len += strcspn(member + len, ")");
    return len + strcspn(member + len, " ");
}

/* A member that is another shape, or a list of them, has the meaning of that one. */
static void add_member(cJSON *schema, const char *shape, const char *member, size_t len)
{
    STR_AUTO name = {0};
    size_t end = strcspn(member, ":~");
    str_add(&name, member, end);
    if (member[end] == ':')
        add_item(schema, "required", cJSON_CreateString(name.data));
    else
        end++;
    cJSON *property = cJSON_AddObjectToObject(cJSON_GetObjectItem(schema, "properties"), name.data);
    const char *type = member + end + 1;
    const char *meaning = member_meaning(shape, name.data);
    if (meaning != NULL && !(*type >= 'A' && *type <= 'Z'))
        add_text(property, "description", meaning);
    add_type(property, type, len - end - 1);
}

static cJSON *add_object(cJSON *schema)
{
    add_text(schema, "type", "object");
    (void)cJSON_AddObjectToObject(schema, "properties");
    return schema;
}

static void describe(cJSON *schema, const char *shape, const char *members)
{
    bool joins = *members == '+';
    if (*members == '(') {
        add_words(schema, members);
        return;
    }
    if (joins && strchr(members, ' ') == NULL) {
        add_reference(schema, members + 1, strlen(members + 1));
        return;
    }
    cJSON *own = NULL; /* the part that has the members of no other shape */
    for (const char *at = members; *at != '\0'; at += *at == ' ') {
        size_t len = length_of(at);
        if (*at == '+') {
            cJSON *part = cJSON_CreateObject();
            add_reference(part, at + 1, len - 1);
            add_item(schema, "allOf", part);
        } else {
            if (own == NULL && joins)
                add_item(schema, "allOf", own = add_object(cJSON_CreateObject()));
            else if (own == NULL)
                own = add_object(schema);
            add_member(own, shape, at, len);
        }
        at += len;
    }
}

void shape_describe(cJSON *schema, const char *members)
{
    describe(schema, "", members);
}

void shape_describe_all(cJSON *schemas)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        cJSON *schema = cJSON_AddObjectToObject(schemas, shapes[i].name);
        add_text(schema, "description", shapes[i].meaning);
        describe(schema, shapes[i].name, shapes[i].members);
    }
}
