/* Reader slots. A slot is an advisory lock of a control session and a row that names the reader's backend. An executor that
 * is killed loses its locks at once, while its reader's statement runs on to its end; later its liveness lock is seen free.
 *
 * One step is one statement or one commit. A take is a transaction: read the bound, then for each slot: lock it, read its
 * row, look for the backend that the row names, write and commit. Nothing polls, with one exception: who is short of slots
 * while a row names a dead executor comes again when the backend is gone (in reality every 100 ms). So "no stuck state" says
 * that no wake-up is lost. Each executor has one reader and takes tasks from a common heap; one backend per incarnation.
 * Switches: E executors, FAULTS, TASKS, MAX0 MAX1 MAX2 (the bound as the operator changes it), mutants as in README.md.  */
#ifndef E
#define E 2
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef TASKS
#define TASKS 3
#endif
#ifndef MAX0
#define MAX0 1
#endif
#ifndef MAX1
#define MAX1 0
#endif
#ifndef MAX2
#define MAX2 2
#endif
#define S  2                    /* slots that there can be                                                             */
#define NB (E*(FAULTS+1))       /* backends: one per incarnation                                                       */

/* ---- the database */
byte max = MAX0;
byte lock[S+1];                 /* advisory: executor + 1                                                              */
byte row[S+1];                  /* committed: backend + 1 that the slot names                                          */
bit  reg[E];                    /* slot_waiter                                                                         */
bit  life[NB];                  /* liveness lock of that incarnation                                                   */
bit  there[6], runs[6];        /* the backend is there; a task's statement runs on it                                 */
byte at[6];                     /* ghost: the slot under which it runs                                                 */
/* ---- executors */
byte inc[E];                    /* incarnation                                                                         */
bit  wake[E], crash[E], bye[6];
byte heap = TASKS, done, faults = FAULTS;
bit  calm;

#define B      (e + E*inc[e])
#define HELD(i,b) ((i) && runs[b] && at[b]==(i))
#define DEAD(i) ((i)<=max && row[i] && !life[row[i]-1])                   /* names a dead executor                      */
#ifdef MUT_GHOST_THERE             /* ... whose backend is still there: it may have ended since the slot was refused         */
#define GHOSTS ((DEAD(1) && there[row[1]-1]) || (DEAD(2) && there[row[2]-1]))
#else
#define GHOSTS (DEAD(1) || DEAD(2))
#endif
#define FREE(i) (DEAD(i) && !there[row[i]-1] && !lock[i])                   /* coming again would help                     */
#ifdef MUT_NO_BACKEND
#define IN_USE(r) 0
#elif defined(MUT_STALE_ACTIVITY)
#define IN_USE(r) ((r) && (copy & (1<<((r)-1))))                          /* pg_stat_activity copied when the take began */
#else
#define IN_USE(r) ((r) && there[(r)-1])
#endif

inline wake_all() { k = 0; do :: k<E -> wake[k] = 1; k++ :: else -> break od; k = 0 }
inline copy_activity() {
  copy = 0;
#ifdef MUT_STALE_ACTIVITY
  k = 0; do :: k<NB -> copy = copy | (there[k]<<k); k++ :: else -> break od; k = 0
#endif
}
inline runs_on(i) {             /* the promise: one running statement a slot, and none beyond the bound that was read   */
  k = 0; do :: k<NB -> assert(!HELD(i,k)); k++ :: else -> break od; k = 0; runs[B] = 1; at[B] = i
}

proctype executor(byte e) {
  byte i, m, r, got, copy, k;
  bit mine, second, ghosts;
again:
  {
    d_step { life[B] = 1; there[B] = 1 };          /* connected                                                         */
    do
    :: d_step { !mine && heap>0 -> heap--; mine = 1 }
look:  wake[e] = 0;
try:   m = max;
       d_step { i = 1; got = 0; copy_activity() }
       do
       :: d_step { !got && i<=m && lock[i] -> i++; r = 0 }
#ifdef MUT_ROW_FIRST
       :: d_step { !got && i<=m && !lock[i] && !r -> r = row[i]+1 }           /* the row from before the lock              */
       :: d_step { !got && i<=m && !lock[i] && r -> lock[i] = e+1; r-- };
#else
       :: d_step { !got && i<=m && !lock[i] -> lock[i] = e+1 }
          r = row[i];
#endif
          if
          :: d_step { IN_USE(r) -> lock[i] = 0; i++ }
          :: d_step { !IN_USE(r) -> row[i] = B+1; got = i; reg[e] = 0; second = 0 }
          fi;
          r = 0
       :: d_step { got || i>m -> i = 0; m = 0; copy = 0 } break
       od;
       if
       :: got -> skip
#ifdef MUT_REGISTER_LATE
       :: d_step { !got && !reg[e] && !second -> second = 1 } goto try         /* in one transaction with the second try,  */
       :: d_step { !got && !reg[e] && second -> second = 0; reg[e] = 1 } goto sleep          /* which is seen after it     */
#else
       :: d_step { !got && !reg[e] -> reg[e] = 1 } goto try                    /* committed; only then once more           */
#endif
       :: !got && reg[e] ->
          ghosts = GHOSTS;
sleep:    if
          :: wake[e] -> ghosts = 0; goto look
#ifndef MUT_NO_GHOSTS
          :: !wake[e] && ghosts && (FREE(1) || FREE(2)) -> ghosts = 0; goto look
#endif
          fi
       fi;
       d_step { runs_on(got) }
work:  true;
       d_step { runs[B] = 0; at[B] = 0; done++; mine = 0 }
       if                                      /* go on with the same slot, unless it is beyond the bound by now         */
#ifdef MUT_KEEP_EXCESS
       :: d_step { heap>0 -> heap--; mine = 1; assert(got<=max); runs_on(got) } goto work
#else
       :: d_step { heap>0 && got<=max -> heap--; mine = 1; assert(got<=max); runs_on(got) } goto work
#endif
       :: skip
       fi;
#ifndef MUT_NO_CLEAR
       row[got] = 0;                           /* committed before the unlock                                           */
#endif
#ifdef MUT_NOTIFY_FIRST
       d_step { k = 0; do :: k<E -> m = m | (k!=e && reg[k]); k++ :: else -> break od; k = 0 }
       lock[got] = 0;
#else
       lock[got] = 0;
       d_step { k = 0; do :: k<E -> m = m | (k!=e && reg[k]); k++ :: else -> break od; k = 0 }
#endif
       d_step { if :: m -> wake_all() :: else fi; m = 0; got = 0 }
    :: d_step { done==TASKS && calm && !mine -> life[B] = 0; there[B] = 0 } goto over
    od
  } unless { crash[e] };
  /* Killed: its locks go at once, its liveness lock is seen free a little later; the backend ends when it ends. The task
     goes back to the heap (its adoption is in phases.pml), and a new incarnation starts. */
  d_step { k = 1; do :: k<=S -> if :: lock[k]==e+1 -> lock[k] = 0 :: else fi; k++ :: else -> break od; k = 0;
    i = 0; m = 0; r = 0; got = 0; copy = 0; second = 0; ghosts = 0 };
  d_step { life[B] = 0; bye[B] = 1; reg[e] = 0; heap = heap + mine; mine = 0; inc[e]++; crash[e] = 0;
#ifndef MUT_NO_DEATH
    wake_all()                                 /* an executor is seen to die                                            */
#endif
    };
  goto again;
over: skip
}

proctype world() {
  byte k, n;
  do
  :: d_step { faults>0 && !calm -> faults--; if :: crash[0] = 1 :: crash[E-1] = 1 fi }
  :: d_step { n==0 && !calm -> n = 1; max = MAX1; wake_all() }
  :: d_step { n==1 -> n = 2; max = MAX2;
#ifndef MUT_NO_GROWTH
       wake_all()
#endif
     }
  :: n==2 -> calm = 1; break
  od
}

#define ENDS(b) :: d_step { bye[b] -> there[b] = 0; runs[b] = 0; at[b] = 0; bye[b] = 0 }
proctype backends() { end: do ENDS(0) ENDS(1) ENDS(2) ENDS(3) ENDS(4) ENDS(5) od }

init {
  byte e;
  atomic { run backends(); e = 0; do :: e<E -> run executor(e); e++ :: else -> break od; e = 0; run world() }
  (_nr_pr==2);
  assert(done==TASKS && !lock[1] && !lock[2] && !reg[0] && !reg[E-1])
}
