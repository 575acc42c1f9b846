/* A request to fire a job that has SQL of the user's: a run by hand, or a time of a backfill, that a function of SQL, the
 * API or a page has asked for. It is a row with a token; the dispatcher that has the lock takes it with a new token, and the
 * user's session fires with that one: row, run and outcome in one transaction. Dispatchers die, or lose their session and
 * with it the lock, while their user's session lives on and may still commit; a lease that runs out gives the request to
 * the next turn, though its session may only be slow. The user's SQL fails, for the job's or another's fault; an operator
 * edits the job, and withdraws the request. The database is set back to what was durable; the topic is not.            */
#ifndef FAULTS
#define FAULTS 1          /* deaths and lost sessions of dispatchers */
#endif
#ifndef SETBACKS
#define SETBACKS 0
#endif
#ifndef FAILS
#define FAILS 1           /* failures of the user's SQL */
#endif
#ifndef LEASES
#define LEASES 1          /* that run out while the session works */
#endif
/* the run */
#define OUTBOX 1
#define OPEN 2
#define ENDED 3
/* dispatchers */
#define WAITS 0
#define HAS_LOCK 1
#define ASKED 2           /* a token is out */

/* the database, and its durable state (d_) */
bit row = 1, due = 1, fired, failed, withdrawn;
byte token, life;
bit d_row = 1, d_due = 1, d_fired, d_failed, d_withdrawn;
byte d_token, d_life;
byte tokens;              /* random in reality: none is issued twice */
byte sent;                /* the topic: how many runs of the request it has */
/* the world */
byte lock, faults = FAULTS, setbacks = SETBACKS, fails = FAILS, leases = LEASES, edits = 1, withdrawals = 1;
bit dirty, was_set_back;
byte at[2], mine[2];      /* mine: the token with which the user's session of this dispatcher works (0: none) */
byte version;             /* ghost: of the job, and with which one the user's statements were run */
byte ran[2];

#define WORKS(e) (mine[e] && mine[e]==token)
#define OVER     (!row && life!=OUTBOX && life!=OPEN)
/* A token that somebody may still hold is void from here on. */
#define ISSUE    tokens++; token = tokens

proctype dispatcher(byte e) {
  do
  /* What the dispatcher before has asked for is asked for again. */
  :: d_step { at[e]==WAITS && lock==0 && !OVER -> lock = e+1; at[e] = HAS_LOCK;
       if
       :: row -> due = 1; dirty = 1
#ifndef SAME_TOKEN
          ; ISSUE
#endif
       :: else
       fi }
  :: d_step { at[e]==HAS_LOCK && row && due -> due = 0; at[e] = ASKED; ran[e] = version; dirty = 1;
#ifndef SAME_TOKEN
       ISSUE;
#else
       if :: token -> skip :: else -> ISSUE fi;     /* with the token of the turn before: the row alone makes it once */
#endif
       mine[e] = token }
  :: d_step { mine[e] ->                            /* the user's session fires, also that of a dispatcher that is gone */
       if
#ifdef MUT_NO_TOKEN
       :: 1 ->
#else
       :: row && WORKS(e) ->
#endif
          assert(ran[e]==version);                  /* what the statements of an older version returned is not published */
          assert(was_set_back || !(fired || failed || withdrawn));
#ifndef MUT_KEPT
          row = 0;
#endif
          fired = 1; dirty = 1;
#ifndef MUT_RANDOM_ID
          if :: life -> skip :: else -> life = OUTBOX fi   /* known: claimed from the topic of a database that was set back */
#else
          life = OUTBOX
#endif
       :: else
       fi;
       mine[e] = 0; ran[e] = 0; at[e] = (at[e]==ASKED -> HAS_LOCK : at[e]) }
  /* The SQL fails, which its dispatcher reports: another's fault, and it is tried later; or the job's, and it ends. */
  :: d_step { fails>0 && at[e]==ASKED && mine[e] -> fails--;
       if
       :: row && WORKS(e) -> ISSUE; due = 0; dirty = 1
       :: else
       fi;
       mine[e] = 0; ran[e] = 0; at[e] = HAS_LOCK }
  :: d_step { fails>0 && at[e]==ASKED && mine[e] -> fails--;
       if
#ifdef MUT_FAIL_BLIND
       :: row ->
#else
       :: row && WORKS(e) -> assert(!fired && !withdrawn || was_set_back);
#endif
          assert(ran[e]==version); row = 0; failed = 1; dirty = 1
       :: else
       fi;
       mine[e] = 0; ran[e] = 0; at[e] = HAS_LOCK }
  /* dies: the server ends its sessions, sooner or later */
  :: d_step { faults>0 && at[e]!=WAITS -> faults--; at[e] = WAITS; mine[e] = 0; ran[e] = 0; lock = 0 }
  /* loses the session with the lock; the user's session has not heard of it */
  :: d_step { faults>0 && at[e]==ASKED && mine[e] -> faults--; at[e] = WAITS; lock = 0 }
  :: d_step { OVER && !mine[e] && at[e]!=ASKED -> at[e] = WAITS; lock = (lock==e+1 -> 0 : lock) } break
  od
}

/* Relay, claim and end of the run. The row knows the run's id, so the relay finds what it sent before the database was set
 * back, and the claim makes the run again, or finds it.                                                               */
proctype executor() {
  do
  :: d_step { life==OUTBOX ->
#ifdef MUT_RANDOM_ID
       sent++;
#else
       sent = 1;
#endif
       assert(sent==1); life = OPEN; dirty = 1 }
  :: d_step { was_set_back && sent && !life -> life = OPEN; dirty = 1 }
  :: d_step { life==OPEN -> life = ENDED; dirty = 1 }
  :: d_step { OVER } break
  od
}

proctype world() {
  do
  /* the pause behind a failure is over; and the lease of a session that works */
  :: d_step { row && !due && !WORKS(0) && !WORKS(1) -> due = 1; dirty = 1 }
  :: d_step { leases>0 && row && !due && (WORKS(0) || WORKS(1)) -> leases--; due = 1; dirty = 1 }
  :: d_step { edits>0 && !OVER -> edits--; version++;
#ifndef MUT_EDIT_TOKEN
       if :: row -> ISSUE; due = 1 :: else fi;
#endif
       dirty = 1 }
  :: d_step { withdrawals>0 && row -> withdrawals--; withdrawn = 1; dirty = 1
#ifndef MUT_WITHDRAWN_KEPT
       ; row = 0
#endif
     }
  :: d_step { setbacks>0 && dirty -> dirty = 0; d_row = row; d_due = due; d_token = token; d_life = life; d_fired = fired;
       d_failed = failed; d_withdrawn = withdrawn }
  :: d_step { setbacks>0 && dirty && !OVER -> setbacks--; dirty = 0; was_set_back = 1; row = d_row; due = d_due;
       token = d_token; life = d_life; fired = d_fired; failed = d_failed; withdrawn = d_withdrawn;
       mine[0] = 0; mine[1] = 0; ran[0] = 0; ran[1] = 0; at[0] = WAITS; at[1] = WAITS; lock = 0 } /* all sessions end with the server */
  :: d_step { OVER } break
  od
}

init {
  atomic { run dispatcher(0); run dispatcher(1); run executor(); run world() }
  (_nr_pr==1);
  assert(fired || failed || withdrawn);
  assert(was_set_back || fired+failed+withdrawn==1);
  assert(lock==0)
}
