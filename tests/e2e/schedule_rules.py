"""Random rules of times against a walk through every minute of days around clock changes, which knows nothing of the code.
usage: schedule_rules.py SEED KIND COUNT LOCKSTEP...: COUNT rules at least, which have COUNT times at least; asks `LOCKSTEP... schedule next --file -`, prints what differs, exits 1 if anything does.
KIND: cron, calendar, or set-back: both, with times in and near the hours that the clock repeats, on few days but the one on which it does.
"""

import json, random, subprocess, sys
from datetime import datetime, timedelta, timezone, date
from zoneinfo import ZoneInfo

UTC = timezone.utc
ZONES = {
    "America/New_York": ["2025-03-09", "2025-11-02"],
    "Europe/Warsaw": ["2024-03-31", "2024-10-27"],
    "Australia/Lord_Howe": ["2024-04-07", "2024-10-06"],
    "America/Sao_Paulo": ["2018-11-04", "2018-02-18"],
    "America/St_Johns": ["2006-10-29", "2006-04-02"],
    "Pacific/Apia": ["2011-12-30"],
    "Europe/Dublin": ["2021-10-31"],
    "Africa/Casablanca": ["2023-03-19", "2023-04-23"],
    "UTC": ["2024-02-29"],
    "Asia/Kolkata": ["2024-12-31"],
    "Pacific/Kwajalein": ["1993-08-21"],
    "America/Havana": ["2024-03-10", "2024-11-03"],
    "Africa/Cairo": ["2014-05-15", "2014-06-26", "2014-07-31"],
}
# The hours and half hours from midnight of that day on between which the clock shows a time twice; three hours and more
# are a new calendar.
SET_BACK = {
    "America/New_York": ("2025-11-02", 1, 2),
    "Europe/Warsaw": ("2024-10-27", 2, 3),
    "Australia/Lord_Howe": ("2024-04-07", 1.5, 2),
    "America/Sao_Paulo": ("2018-02-17", 23, 24),
    "America/St_Johns": ("2006-10-28", 23, 24),
    "Antarctica/Troll": ("2024-10-27", 1, 3),
    "Africa/Casablanca": ("2023-03-19", 2, 3),
    "America/Havana": ("2024-11-03", 0, 1),
    "Antarctica/Casey": ("2012-02-22", 1, 4),
    "Pacific/Kwajalein": ("1969-09-30", 1, 24),
}


def field(r, low, high, star=0.4):
    if r.random() < star:
        return "*" if r.random() < 0.6 else "*/%d" % r.randint(1, high - low + 1)
    items = []
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        a = r.randint(low, high)
        k = r.random()
        if k < 0.6:
            items.append(str(a))
        elif k < 0.8:
            items.append("%d-%d" % (a, r.randint(a, high)))
        elif k < 0.9:
            items.append("%d/%d" % (a, r.randint(1, high - low + 1)))
        else:
            items.append("%d-%d/%d" % (a, r.randint(a, high), r.randint(1, 7 if high - low >= 7 else 3)))
    return ",".join(items)


def values(text, low, high):
    made = set()
    for item in text.split(","):
        body, _, step = item.partition("/")
        step = int(step or 1)
        if body == "*":
            a, b = low, high
        elif "-" in body:
            a, b = map(int, body.split("-"))
        else:
            a = int(body)
            b = high if "/" in item else a
        made |= set(range(a, b + 1, step))
    return made


def month_len(y, m):
    return ((date(y + m // 12, m % 12 + 1, 1)) - date(y, m, 1)).days


def dom_match(item_text, d):
    n = month_len(d.year, d.month)
    hit = False
    for item in item_text.split(","):
        if item == "L":
            hit |= d.day == n
        elif item.startswith("L-"):
            hit |= d.day == n - int(item[2:])
        elif item == "LW" or item.endswith("W"):
            w = n if item == "LW" else int(item[:-1])
            if w > n:
                continue
            t = date(d.year, d.month, w)
            wd = t.weekday()
            if wd == 5:
                t = t - timedelta(1) if w > 1 else t + timedelta(2)
            elif wd == 6:
                t = t + timedelta(1) if w < n else t - timedelta(2)
            hit |= t == d
        else:
            hit |= d.day in values(item, 1, 31)
    return hit


def dow_match(text, d):
    wd = (d.weekday() + 1) % 7
    n = month_len(d.year, d.month)
    hit = False
    for item in text.split(","):
        if "#" in item:
            a, k = map(int, item.split("#"))
            hit |= a % 7 == wd and (d.day - 1) // 7 + 1 == k
        elif item.endswith("L"):
            hit |= int(item[:-1]) % 7 == wd and d.day > n - 7
        else:
            hit |= wd in values(item, 0, 6)
    return hit


def cron_rule(r):
    return cron_of(
        field(r, 0, 59, 0.3),
        field(r, 0, 23, 0.3),
        cron_dom(r),
        r.choice(["*", "*", "*", field(r, 1, 12)]),
        r.choice(
            ["*", "*", "*", field(r, 0, 6), "%d#%d" % (r.randint(0, 7), r.randint(1, 5)), "%dL" % r.randint(0, 7), "1,3#2"]
        ),
    )


def cron_dom(r):
    return r.choice(
        [
            "*",
            "*",
            "*",
            "*",
            field(r, 1, 31),
            "L",
            "L-%d" % r.randint(1, 5),
            "LW",
            "%dW" % r.randint(1, 31),
            "1,L",
            "15W,L",
        ]
    )


def cron_of(mi, h, dom, mo, dow):
    rule = {"kind": "cron", "expr": " ".join([mi, h, dom, mo, dow])}
    mins, hrs, mos = values(mi, 0, 59), values(h, 0, 23), values(mo, 1, 12)
    both = dom[0] == "*" or dow[0] == "*"

    def day(d):
        if d.month not in mos:
            return False
        a, b = dom_match(dom, d), dow_match(dow, d)
        return (a and b) if both else (a or b)

    return rule, lambda l: l.minute in mins and l.hour in hrs and day(l.date()), mi[0] != "*" and h[0] != "*"


def near(r, low, high):
    """A minute of the day in, or close to, the hours from low to high."""
    return int(r.uniform(low - 0.6, high + 0.6) * 60) % 1440


def set_back_cron(r, day, low, high):
    """Fires on that day, on few others; seldom on the day before or after it."""
    day += timedelta(r.choice([0, 0, 0, 0, 0, 0, -1, 1]))
    a, b = sorted(near(r, low, high) // 60 for _ in range(2))
    mi = r.choice(["*", "*/10", "*/7", "*/30", "0,30", "%d" % r.randint(0, 59), "%d/15" % r.randint(0, 59)])
    h = r.choice(["%d" % a, "%d" % b, "%d-%d" % (a, b), "%d,%d" % (a, b), "*/%d" % r.randint(1, 3), "*"])
    wd = (day.weekday() + 1) % 7
    dom, dow = "*", "*"
    if r.random() < 0.5:
        dow = r.choice(["%d" % wd, "%d#%d" % (wd, (day.day - 1) // 7 + 1)])
    else:
        dom = "%d" % day.day
    return cron_of(mi, h, dom, r.choice(["*", "%d" % day.month]), dow)


def calendar_rule(r, zone_day):
    return calendar_of(
        r, zone_day, zone_day - timedelta(r.randint(0, 80)), r.randint(0, 1439), r.randint(1, 1439), r.random() < 0.3
    )


def set_back_calendar(r, day, low, high):
    """The same for a calendar rule; the set-back may be in the part of a window that is behind its midnight."""
    opening = day - timedelta(r.choice([0, 0, 0, 0, 0, 1]))
    o, c = near(r, low, high), near(r, low, high) or 1
    return calendar_of(r, opening, opening - timedelta(r.choice([0, 7, 28])), o, c, r.random() < 0.5, True)


def calendar_of(r, zone_day, start, o, c, ends, seldom=False):
    t = r.choice([8, 16, 32] if seldom else [4, 8, 16, 32])
    rule = {"kind": "calendar", "freq_type": t, "active_start_date": int(start.strftime("%Y%m%d"))}
    f = 1 if seldom else r.randint(1, 4)
    if t == 4:
        rule["freq_interval"] = f
    else:
        rule["freq_recurrence_factor"] = f
    if t == 8:
        rule["freq_interval"] = r.randint(1, 127)
    if t == 16:
        rule["freq_interval"] = r.randint(1, 31)
    if t == 32:
        rule["freq_interval"] = r.randint(1, 10)
        rule["freq_relative_interval"] = r.choice([1, 2, 4, 8, 16])
    if seldom:
        wd = (zone_day.weekday() + 1) % 7
        rule["freq_interval"] = {8: 1 << wd, 16: zone_day.day, 32: wd + 1}[t]
        if t == 32:
            rule["freq_relative_interval"] = {1: 1, 2: 2, 3: 4, 4: 8, 5: 16}[(zone_day.day - 1) // 7 + 1]
    sub = r.choice([1, 4, 4, 8] if seldom else [1, 4, 8])
    if o == c:
        sub = 1
    rule.update(
        freq_subday_type=sub,
        freq_subday_interval=r.choice([1, 7, 30, 45, 61, 90, 600]) if sub == 4 else r.randint(1, 5),
        active_start_time=o // 60 * 10000 + o % 60 * 100,
        active_end_time=c // 60 * 10000 + c % 60 * 100,
    )
    step = rule["freq_subday_interval"] * (1 if sub == 4 else 60)
    if ends:
        rule["active_end_date"] = int((zone_day + timedelta(0 if seldom else r.randint(0, 3))).strftime("%Y%m%d"))
    end = (
        datetime.strptime(str(rule.get("active_end_date", 99991231)), "%Y%m%d").date()
        if "active_end_date" in rule
        else date.max
    )

    def day(d):
        if d < start or d > end:
            return False
        if t == 4:
            return (d - start).days % f == 0
        if t == 8:
            return (d - start).days // 7 % f == 0 and rule["freq_interval"] >> ((d.weekday() + 1) % 7) & 1
        if ((d.year - start.year) * 12 + d.month - start.month) % f:
            return False
        if t == 16:
            return d.day == rule["freq_interval"]
        k = rule["freq_interval"]
        fits = [
            x
            for x in range(1, month_len(d.year, d.month) + 1)
            if k == 8
            or (k < 8 and (date(d.year, d.month, x).weekday() + 1) % 7 + 1 == k)
            or (k == 9 and date(d.year, d.month, x).weekday() < 5)
            or (k == 10 and date(d.year, d.month, x).weekday() >= 5)
        ]
        n = {1: 0, 2: 1, 4: 2, 8: 3, 16: -1}[rule["freq_relative_interval"]]
        return n < len(fits) and fits[n] == d.day

    def at(l):
        m = l.hour * 60 + l.minute
        if sub == 1:
            return m == o and day(l.date())
        if c > o:
            return o <= m <= c and (m - o) % step == 0 and day(l.date())
        if m >= o:
            return (m - o) % step == 0 and day(l.date())
        return m <= c and (m + 1440 - o) % step == 0 and day(l.date() - timedelta(1))

    return rule, at, sub == 1 or step > 60


def walk(match, fixed, zone, begin, end):
    """Every minute of UTC; local time as a clock on the wall shows it; seen: local times that were shown already."""
    z = ZoneInfo(zone)
    made = set()
    t = begin - timedelta(hours=30)
    shown = None
    prev = None
    while t <= end:
        l = t.astimezone(z).replace(tzinfo=None)
        if prev is not None and l - prev != timedelta(minutes=1):
            jump = l - prev - timedelta(minutes=1)
            if abs(jump) >= timedelta(hours=3):
                shown = None
            elif jump > timedelta(0) and fixed:
                x = prev + timedelta(minutes=1)
                while x < l:
                    if match(x):
                        made.add(t)
                    x += timedelta(minutes=1)
        prev = l
        if match(l) and not (fixed and shown is not None and l <= shown):
            made.add(t)
        if shown is None or l > shown:
            shown = l
        t += timedelta(minutes=1)
    return sorted(x for x in made if x > begin and x <= end)


seed, kind, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
r = random.Random(seed)
cases = []
times = 0
while len(cases) < count or times < count:  # many rules have no time within these days
    is_open = False  # no end in the rule itself: what follows is asked, too
    if kind == "set-back":
        zone = r.choice(list(SET_BACK))
        d, low, high = SET_BACK[zone]
        d = date.fromisoformat(d)
        kinds = [set_back_cron, set_back_calendar] if d.year >= 1990 else [set_back_cron]  # SQL Server Agent's first year
        rule, match, fixed = r.choice(kinds)(r, d, low, high)
        turn = datetime(d.year, d.month, d.day, tzinfo=ZoneInfo(zone)).astimezone(UTC) + timedelta(hours=high)
        begin = turn + timedelta(minutes=r.choice([r.randint(-6000, 60), r.randint(-180, 180)]))
        is_open = r.random() < 0.5
        end = turn + timedelta(minutes=3000 if is_open else r.randint(-30, 300))
        end = max(end, begin + timedelta(minutes=10))
    else:
        zone = r.choice(list(ZONES))
        d = date.fromisoformat(r.choice(ZONES[zone]))
        rule, match, fixed = cron_rule(r) if kind == "cron" else calendar_rule(r, d)
        begin = datetime(d.year, d.month, d.day, tzinfo=UTC) + timedelta(minutes=r.randint(-2000, 1500))
        end = begin + timedelta(hours=r.choice([20, 60, 100]))
    rule["zone"] = zone
    cases.append((rule, begin, end, walk(match, fixed, zone, begin, end), is_open))
    times += len(cases[-1][3])
STAMP = "%Y-%m-%dT%H:%M:%SZ"
asked = [
    dict(c[0], after=c[1].strftime(STAMP), n=len(c[3]) + 1)
    if c[4]
    else dict(c[0], after=c[1].strftime(STAMP), not_after=c[2].strftime(STAMP), n=100000)
    for c in cases
]
out = subprocess.run(
    sys.argv[4:] + ["schedule", "next", "--file", "-"],
    input="".join(json.dumps(a) + "\n" for a in asked),
    capture_output=True,
    text=True,
)
answers = [json.loads(line) for line in out.stdout.splitlines()]
if len(answers) != len(cases):
    sys.exit("%d answers to %d rules: %s" % (len(answers), len(cases), out.stderr))
bad = never = 0
for (rule, begin, end, want, is_open), got in zip(cases, answers):
    want = [t.strftime(STAMP) for t in want]
    if is_open and "next" in got:
        got["next"] = [t for t in got["next"] if t <= end.strftime(STAMP)]
    never += got.get("error") == "never"
    if got.get("error") == "never" and not want or got.get("next") == want:
        continue
    bad += 1
    have = got.get("next", [])
    print(
        "differs: %s after %s: missing %s, not wanted %s %s"
        % (
            json.dumps(rule),
            begin,
            [t for t in want if t not in have][:5],
            [t for t in have if t not in want][:5],
            got.get("message", ""),
        )
    )
print("seed %d: %d rules, %d times, %d never, %d differ" % (seed, len(cases), times, never, bad))
sys.exit(bad > 0)
