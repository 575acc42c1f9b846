/* Runs. Two runs of a queue are serial in log order: a run ends once its `end` is claimed and no row of it is unfinished, and
 * the first phase of the next one waits for that. Somebody must find it ended, and nobody too early.
 *
 * Every rare change of a run (claim, final failure, end, pause, resume, cancel, run_finish) is one transaction that first
 * locks the row of the queue; a completion does not. One task a phase: a1 = 1, a2 = 2 of run A, b1 = 4 of run B; runs are
 * bits too (A = 1, B = 2). The log is LOG 1: a1 a2 endA b1 endB, or LOG 2, two producers at once: a1 b1 a2 endA endB.
 * What phases.pml shows is taken for granted: phase locks, adoption, tokens of zombies. Policy: stop.
 * CONCURRENT: run B waits for nobody, and what is claimed of A while it is paused is recorded without an owner (parked); it is
 * looked for when A is resumed, or when somebody dies.
 * Switches: FAULTS (an executor dies for good), FAILS (a1 finally fails), PAUSES, CANCELS (of run A), mutants (README.md).  */
#define E 2
#ifndef LOG
#define LOG 1
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef PAUSES
#define PAUSES 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#define LENGTH 5
#if LOG==1
#define TASK(i) ((i)==0 -> 1 : ((i)==1 -> 2 : ((i)==3 -> 4 : 0)))
#define END(i)  ((i)==2 -> 1 : 2)
#else
#define TASK(i) ((i)==0 -> 1 : ((i)==1 -> 4 : ((i)==2 -> 2 : 0)))
#define END(i)  ((i)==3 -> 1 : 2)
#endif
#define RUN(t)   ((t)==4 -> 2 : 1)
#define TASKS(r) ((r)==2 -> 4 : 3)
#define LOW(s)   ((s) & -(s))

/* ---- the database */
byte ql;                        /* the row of the queue is locked                                                      */
byte next, rows, fin, opened;   /* cursor; rows; finished for whatever reason; open phases                             */
byte canc, failed, eff;         /* of the finished: cancelled, failed; ghost: effects                                  */
byte endc, ended, stop;         /* runs: end claimed; ended; stopped by a failure or cancelled                         */
bit  paused;                    /* run A                                                                               */
/* ---- executors: control and reader (c..), gate (g..) */
byte own[E], known[E];          /* tasks in memory; those that it saw open                                             */
byte cs[E], ct[E], cst[E];      /* state, task of the attempt, stops that the claim read                               */
bit  cur[E];                    /* the attempt's token is still the row's                                              */
byte tofin[E];                  /* runs that it has to try to finish: S of one of their phases was released            */
byte gs[E], gt[E];
bit  gp[E], gz[E];              /* paused: as the gate read it; ghost: as it was at the check                          */
bit  wake[E], dead[E], seen[E], look[E];
byte faults = FAULTS, fails = FAILS, pauses = PAUSES, cancels = CANCELS;
bit  calm;

#define IDLE 0
#define CLAIM 1
#define WORK 2
#define FAIL 3                  /* waits for the row of the queue                                                      */
#define FAIL2 4                 /* has it                                                                              */
#define FAIL3 5
#define FIN 6                   /* has the row of the queue, checks                                                    */
#define FINW 7                  /* mutant: has checked, waits for it                                                   */
#define TAKEN 8                 /* has taken an end, not yet committed                                                  */
#define GWAIT 1                 /* for IX of the phase before, in slices                                               */
#define GCHECK 2
#define GOPEN 3
#define GSLEEP 4

#define LEFT(r)  (rows & ~fin & TASKS(r))
#define OVER(r)  ((endc & (r)) && !(ended & (r)) && !LEFT(r) && !(paused && (r)==1))
#define GATES(e) (own[e] & ~known[e])
#ifdef CONCURRENT
#define AFTER_A  1
#define HELD(t)  (paused && RUN(t)==1)
#elif defined(MUT_RUN_BY_ROWS)  /* the run before is taken for ended when nothing of it is unfinished                   */
#define AFTER_A  (!LEFT(1))
#else
#define AFTER_A  (ended & 1)
#endif
#ifndef HELD
#define HELD(t)  0
#define MAY_PAUSE rows
#else
#define MAY_PAUSE 1               /* also before its first message is claimed */
#endif

inline wake_all() { wake[0] = 1; wake[1] = 1 }
inline mark_ended(r) { assert((rows & TASKS(r)) == TASKS(r) && !LEFT(r)); ended = ended|(r); wake_all() }
inline finish(r) { if :: OVER(r) -> mark_ended(r) :: else fi }
inline cancel_rows(m) {
  canc = canc | (rows & ~fin & (m));
#ifndef MUT_TOKEN_KEPT
  k = 0; do :: k<E -> if :: rows & ~fin & (m) & ct[k] -> cur[k] = 0 :: else fi; k++ :: else -> break od; k = 0;
#endif
  fin = fin | (rows & (m))
}
inline stop_a() { stop = stop|1; cancel_rows(2 & ~opened); wake_all() }
inline drop(t) { own[e] = own[e] & ~(t); known[e] = known[e] & ~(t); tofin[e] = tofin[e] | RUN(t) }
inline c_idle() { cs[e] = IDLE; ct[e] = 0; cur[e] = 0; cst[e] = 0 }
inline g_idle() { gs[e] = 0; gt[e] = 0; gp[e] = 0; gz[e] = 0 }

proctype executor(byte e) {
  byte k, t;
  do
  /* CLAIM: one transaction under the row of the queue. */
  :: d_step { cs[e]==IDLE && !dead[e] && next<LENGTH && !ql -> ql = e+1; cst[e] = stop; cs[e] = CLAIM }
  :: d_step { cs[e]==CLAIM ->
       t = TASK(next);
       if
#ifndef MUT_CLAIM_NO_STOP
       :: t && (cst[e] & RUN(t)) -> rows = rows|t; fin = fin|t; canc = canc|t          /* recorded as cancelled         */
       :: t && !(cst[e] & RUN(t)) ->
#else
       :: t ->
#endif
            rows = rows|t;
            if
            :: HELD(t) ->
#ifdef MUT_PARK_OPEN
                 if :: t==1 -> opened = opened|t :: else fi
#else
                 skip
#endif
            :: !HELD(t) ->
                 own[e] = own[e]|t;
                 if :: t==1 || (t==4 && AFTER_A) -> opened = opened|t; known[e] = known[e]|t :: else fi
            fi;
            assert(!(HELD(t) && (opened & t)))
       :: else -> cst[e] = 0;                  /* run_finish in the same transaction: checks now, seen when it commits   */
#ifndef MUT_END_NO_FINISH
            if :: !LEFT(END(next)) && !(paused && END(next)==1) -> cst[e] = 1 :: else fi;
#endif
            cs[e] = TAKEN
       fi;
       if :: t -> next++; ql = 0; t = 0; c_idle() :: else fi }
  :: d_step { cs[e]==TAKEN -> endc = endc | END(next); if :: cst[e] -> mark_ended(END(next)) :: else fi; next++; ql = 0; c_idle() }

  /* START, COMMIT (no lock of the queue), final failure (with it). */
  :: d_step { cs[e]==IDLE && !dead[e] && (own[e] & known[e]) ->
       ct[e] = LOW(own[e] & known[e]); cur[e] = !(fin & ct[e]); cs[e] = WORK;
       assert(!cur[e] || ct[e]!=4 || AFTER_A); assert(!cur[e] || ct[e]!=2 || (fin&1)) }
  :: d_step { cs[e]==WORK ->
       if :: cur[e] -> assert(!(eff & ct[e])); assert(!(canc & ct[e])); eff = eff|ct[e]; fin = fin|ct[e] :: else fi;
       drop(ct[e]); c_idle() }
  :: d_step { cs[e]==WORK && cur[e] && ct[e]==1 && fails>0 -> fails--; cs[e] = FAIL }
#ifdef MUT_FAIL_UNLOCKED
  :: d_step { cs[e]==FAIL ->                 cs[e] = FAIL2 }
#else
  :: d_step { cs[e]==FAIL && !ql -> ql = e+1; cs[e] = FAIL2 }
#endif
  :: d_step { cs[e]==FAIL2 ->
       if :: cur[e] -> failed = failed|1; fin = fin|1;
#ifndef MUT_TWO_TX
            stop_a()
#endif
          :: else
       fi;
       if :: ql==e+1 -> ql = 0 :: else fi;
#ifdef MUT_TWO_TX
       cs[e] = FAIL3 }
  :: d_step { cs[e]==FAIL3 && !ql -> stop_a();
#endif
       drop(ct[e]); c_idle() }

  /* run_finish, after the last local task of a phase: lock the queue; then, in a statement of its own, check. */
#ifdef MUT_FINISH_SNAPSHOT
  :: d_step { cs[e]==IDLE && !dead[e] && tofin[e] -> cst[e] = (OVER(1) -> 1 : 0) | (OVER(2) -> 2 : 0); tofin[e] = 0; cs[e] = FINW }
  :: d_step { cs[e]==FINW && !ql -> if :: cst[e]&1 -> finish(1) :: else fi; if :: cst[e]&2 -> finish(2) :: else fi; c_idle() }
#elif defined(MUT_NO_FINISH)
  :: d_step { tofin[e] -> tofin[e] = 0 }
#else
  :: d_step { cs[e]==IDLE && !dead[e] && tofin[e] && !ql -> ql = e+1; cs[e] = FIN }
  :: d_step { cs[e]==FIN -> finish(1); finish(2); tofin[e] = 0; ql = 0; c_idle() }
#endif

  /* GATE, for the oldest task in memory that it did not see open. */
  :: d_step { gs[e]==0 && !dead[e] && GATES(e) -> gt[e] = LOW(GATES(e)); wake[e] = 0; gp[e] = paused && gt[e]!=4; gs[e] = GWAIT }
  :: d_step { gs[e]==GWAIT && (fin & gt[e]) -> drop(gt[e]); g_idle() }               /* each slice looks: gone         */
  :: d_step { gs[e]==GWAIT && !(fin & gt[e]) && (gt[e]!=2 || (fin & 1)) -> gs[e] = GCHECK }
  :: d_step { gs[e]==GCHECK -> gz[e] = paused && gt[e]!=4;
#ifndef MUT_PAUSE_EARLY
       gp[e] = gz[e];
#endif
       if
       :: fin & gt[e] -> drop(gt[e]); g_idle()
       :: !(fin & gt[e]) && (opened & gt[e]) -> known[e] = known[e]|gt[e]; g_idle()
       :: else ->
            if :: gp[e] || (gt[e]==4 && !AFTER_A) -> gs[e] = GSLEEP :: else -> gs[e] = GOPEN fi
       fi }
  :: d_step { gs[e]==GOPEN ->                  /* the update meets the row as it is now: not one that is done           */
       if
       :: fin & gt[e] -> drop(gt[e])
       :: else -> assert(!gz[e]); assert(gt[e]!=2 || ((fin&1) && !(failed&1))); assert(gt[e]!=4 || AFTER_A);
            opened = opened|gt[e]; known[e] = known[e]|gt[e]
       fi;
       g_idle() }
  :: d_step { gs[e]==GSLEEP && wake[e] -> g_idle() }
#ifdef CONCURRENT               /* each slice chooses again: what was parked comes after what was claimed behind it     */
  :: d_step { gs[e]==GWAIT && LOW(GATES(e))!=gt[e] -> g_idle() }
#endif
#ifndef MUT_ONE_GATE            /* a gate that sleeps for one run is in nobody's way: a session per active run, or chosen again */
  :: d_step { gs[e]==GSLEEP && LOW(GATES(e))!=gt[e] -> g_idle() }
#endif

  /* An executor dies for good: its transaction rolls back. The other sees it, adopts, and tries to finish: the dead one may
     have completed the last row and not come to it. (The same at start-up, when all were dead.) */
  :: d_step { faults>0 && !calm && !dead[e] ->
       faults--; dead[e] = 1; if :: ql==e+1 -> ql = 0 :: else fi;
       own[e] = 0; known[e] = 0; tofin[e] = 0; c_idle(); g_idle(); seen[1-e] = 1 }
  :: d_step { seen[e] && cs[e]==IDLE -> seen[e] = 0; t = rows & ~fin & ~own[e]; own[e] = own[e]|t; known[e] = known[e] | (t & opened);
#ifndef MUT_DEATH_NO_FINISH
       tofin[e] = 3;
#endif
       t = 0; wake_all() }
#ifdef CONCURRENT                 /* what nobody owns and may run: one looks, the others find nothing                      */
  :: d_step { look[e] && cs[e]==IDLE && !dead[e] -> look[e] = 0;
       t = rows & ~fin & ~own[0] & ~own[1] & ~(paused -> 3 : 0);
       own[e] = own[e]|t; known[e] = known[e] | (t & opened); t = 0 }
#endif

  :: d_step { dead[e] || (calm && next==LENGTH && ended==3 && cs[e]==IDLE && gs[e]==0 && !own[e] && !tofin[e]) } break
  od
}

/* PAUSE, RESUME, CANCEL of run A: each under the row of the queue. */
proctype operator() {
  byte k;
  do
  :: d_step { pauses>0 && !calm && !ql && MAY_PAUSE && !(ended&1) && !(stop&1) -> pauses--; paused = 1 }
  :: d_step { paused && !ql -> paused = 0;
#if defined(CONCURRENT) && !defined(MUT_RESUME_NO_LOOK)
       look[0] = 1; look[1] = 1;
#endif
#ifndef MUT_RESUME_SILENT
       wake_all();
#endif
#ifndef MUT_RESUME_NO_FINISH
       finish(1)
#endif
     }
  :: d_step { cancels>0 && !calm && !ql && rows && !(ended&1) -> cancels--; stop = stop|1; cancel_rows(3); paused = 0;
       wake_all();
#ifndef MUT_CANCEL_NO_FINISH
       finish(1)
#endif
     }
  :: !paused -> calm = 1; break
  od
}

init {
  atomic { run executor(0); run executor(1); run operator() }
  (_nr_pr==1);
  assert(next==LENGTH && ended==3 && rows==7 && fin==7 && !ql && (eff|canc|failed)==7 && !(eff & (canc|failed)))
}
