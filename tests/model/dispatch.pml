/* The dispatcher. Two of them want the dispatch lock; the one that has it reads which job is due and decides it in one
 * transaction that locks the job's row: occurrence, run in the outbox and next_at together. The transaction may decide other
 * jobs, too: for this one that is a step that comes to be or does not, as before. A job with SQL of the user's is
 * decided in two: a token is taken in the dispatcher's session, and the user's session fires with it. Dispatchers die, or
 * lose their session and with it the lock, while their user's session lives on and may still commit. An operator edits the
 * job once. The database is set back to what was durable; the topic is not. Occurrences 1..T of one schedule, one a tick;
 * misfire = once, overlap = skip.                                                                                        */
#ifndef T
#define T 3
#endif
#ifndef FAULTS
#define FAULTS 1          /* deaths and lost sessions of dispatchers */
#endif
#ifndef SETBACKS
#define SETBACKS 0
#endif
#ifndef EDITS
#define EDITS 1
#endif
#ifndef USER
#define USER 1            /* the job has SQL of the user's */
#endif
#define NONE 0
/* occurrences */
#define FIRED 1
#define SKIPPED 2
#define MISSED 3
#define WITHDRAWN 4       /* the schedule was changed before it was decided */
/* runs */
#define OUTBOX 1
#define OPEN 2
#define ENDED 3
/* dispatchers */
#define WAITS 0
#define HAS_LOCK 1
#define SAW_DUE 2
#define ASKED 3           /* a token is out */

/* the database, and its durable state (d_) */
byte next = 1, occ[T+1], life[T+1], token;
byte d_next = 1, d_occ[T+1], d_life[T+1], d_token;
byte tokens;              /* random in reality: none is issued twice */
/* the topic: how many runs of an occurrence it has, and whether somebody has read the set-back cursor past it */
byte sent[T+1];
/* the world */
byte now, lock, faults = FAULTS, setbacks = SETBACKS, edits = EDITS;
bit dirty, was_set_back;
byte at[2], due[2];       /* due: the occurrence that it has read */
byte mine[2], want[2];    /* the token with which the user's session of this dispatcher works (0: none), and the occurrence for which */
byte version;             /* ghost: of the job, and with which one the user's statements were run */
byte ran[2];

#define IS_OPEN(k)  (life[k]==OUTBOX || life[k]==OPEN)
#if T==2
#define BUSY        (IS_OPEN(1) || IS_OPEN(2))
#define ALL_DECIDED (occ[1] && occ[2])
#define WAITING     (life[1]==OUTBOX || life[2]==OUTBOX)
#else
#define BUSY        (IS_OPEN(1) || IS_OPEN(2) || IS_OPEN(3))
#define ALL_DECIDED (occ[1] && occ[2] && occ[3])
#define WAITING     (life[1]==OUTBOX || life[2]==OUTBOX || life[3]==OUTBOX)
#endif
#define OVER        (now==T && next==T+1 && !BUSY)

/* The transaction of a firing, under the lock of the job's row, for what is due at `until`. */
inline decide(until) {
#ifdef MUT_SNAPSHOT
  next = due[e];                                    /* what was read at the beginning of the cycle, not the row */
#endif
  assert(was_set_back || due[e]<=next);
  if
  :: next<=until ->
       do
       :: next<until -> if
                        :: occ[next] -> skip        /* the claim of its run was first: a database that was set back */
                        :: else -> assert(!life[next]); occ[next] = MISSED
                        fi; next++
       :: else -> break
       od;
       if
       :: occ[next] && was_set_back -> skip
#ifdef MUT_NO_GUARD
       :: else ->
#else
       :: !(occ[next] && was_set_back) && BUSY -> assert(!occ[next] && !life[next]); occ[next] = SKIPPED
       :: else -> assert(!occ[next] && !life[next]);
#endif
          assert(was_set_back || !BUSY);            /* no two runs of the job at a time */
          life[next] = OUTBOX;
#ifndef MUT_TWO_TX
          occ[next] = FIRED
#endif
       fi;
#ifndef MUT_TWO_TX
       next++;
#endif
       dirty = 1
  :: else
  fi
}

proctype dispatcher(byte e) {
  do
  :: d_step { at[e]==WAITS && lock==0 && !OVER -> lock = e+1; at[e] = HAS_LOCK }
  :: d_step { at[e]==HAS_LOCK && next<=now -> due[e] = next; at[e] = SAW_DUE }
#if USER
  :: d_step { at[e]==SAW_DUE -> if
                                :: next<=now -> tokens++; token = tokens; mine[e] = token; want[e] = now; ran[e] = version;
                                                   at[e] = ASKED; dirty = 1
                                :: else -> at[e] = HAS_LOCK
                                fi }
  :: d_step { mine[e] ->                            /* the user's session fires, also that of a dispatcher that is gone */
       if
#ifdef MUT_NO_TOKEN
       :: 1 ->
#else
       :: token==mine[e] ->
#endif
          assert(ran[e]==version);                  /* what the statements of an older version returned is not published */
          assert(next<=want[e]);                    /* nor what was asked for another occurrence */
          decide(want[e]); token = 0
       :: else
       fi;
       mine[e] = 0; want[e] = 0; ran[e] = 0; at[e] = (at[e]==ASKED -> HAS_LOCK : at[e]) }
#elif defined(MUT_TWO_TX)
  :: d_step { at[e]==SAW_DUE -> decide(now); at[e] = ASKED }
  :: d_step { at[e]==ASKED -> if :: next<=now -> occ[next] = FIRED; next++ :: else fi; at[e] = HAS_LOCK }
#else
  :: d_step { at[e]==SAW_DUE -> decide(now); at[e] = HAS_LOCK }
#endif
  /* dies: the server ends its sessions, sooner or later */
  :: d_step { faults>0 && at[e]!=WAITS -> faults--; at[e] = WAITS; mine[e] = 0; want[e] = 0; ran[e] = 0; due[e] = 0
#ifndef MUT_LOCK_KEPT
       ; lock = 0
#endif
     }
#if USER
  /* loses the session with the lock; the user's session has not heard of it */
  :: d_step { faults>0 && at[e]==ASKED && mine[e] -> faults--; at[e] = WAITS; lock = 0 }
#endif
  :: d_step { OVER && !mine[e] && at[e]!=ASKED && at[e]!=SAW_DUE -> at[e] = WAITS; lock = (lock==e+1 -> 0 : lock) } break
  od
}

/* Relay, claim and end of runs. A run's id follows from job, schedule and time, so the relay finds what it sent before the
 * database was set back, and the claim finds the run that the dispatcher has made again. */
proctype executor() {
  byte k;
  do
  :: d_step { WAITING ->
       k = 1; do :: life[k]!=OUTBOX -> k++ :: else -> break od;
#ifdef MUT_RANDOM_ID
       sent[k]++;
#else
       sent[k] = 1;
#endif
       assert(sent[k]==1); life[k] = OPEN; dirty = 1; k = 0 }
  :: d_step { was_set_back && sent[1] && !life[1] -> life[1] = OPEN; occ[1] = FIRED; dirty = 1 }   /* claimed again */
  :: d_step { was_set_back && sent[2] && !life[2] -> life[2] = OPEN; occ[2] = FIRED; dirty = 1 }
#if T==3
  :: d_step { was_set_back && sent[3] && !life[3] -> life[3] = OPEN; occ[3] = FIRED; dirty = 1 }
#endif
  :: d_step { life[1]==OPEN -> life[1] = ENDED; dirty = 1 }
  :: d_step { life[2]==OPEN -> life[2] = ENDED; dirty = 1 }
#if T==3
  :: d_step { life[3]==OPEN -> life[3] = ENDED; dirty = 1 }
#endif
  :: d_step { OVER } break
  od
}

proctype world() {
  byte k;
  do
  :: d_step { now<T -> now++ }
  /* An edit fires nothing: what is due and not decided is withdrawn, and a firing that has begun finds its token gone. */
  :: d_step { edits>0 && !OVER -> edits--; version++;
#ifndef MUT_EDIT_TOKEN
       token = 0;
#endif
       do :: next<=now -> if :: occ[next]==NONE -> occ[next] = WITHDRAWN :: else fi; next++ :: else -> break od;
       dirty = 1 }
  :: d_step { setbacks>0 && dirty -> dirty = 0; d_next = next; d_token = token;
       k = 1; do :: k<=T -> d_occ[k] = occ[k]; d_life[k] = life[k]; k++ :: else -> break od; k = 0 }
  :: d_step { setbacks>0 && dirty && !OVER -> setbacks--; dirty = 0; was_set_back = 1; next = d_next; token = d_token;
       k = 1; do :: k<=T -> occ[k] = d_occ[k]; life[k] = d_life[k]; k++ :: else -> break od; k = 0;
       mine[0] = 0; mine[1] = 0; want[0] = 0; want[1] = 0; ran[0] = 0; ran[1] = 0; due[0] = 0; due[1] = 0; at[0] = WAITS; at[1] = WAITS; lock = 0 }      /* all sessions end with the server */
  :: d_step { OVER } break
  od
}

init {
  atomic { run dispatcher(0); run dispatcher(1); run executor(); run world() }
  (_nr_pr==1);
  assert(ALL_DECIDED);
  assert(lock==0)
}
