// Memory as processes see it that share it: stores leave a process late, and loads may return what
// was there a while ago. Weaker than x86 in that; read-modify-writes are full fences, as there.
//
// A process sees each location through a copy of its own, which is brought up to date at any time,
// or never. What it stores waits until it leaves, at any time after. Both are settled
//   - for the process itself by its full fences and read-modify-writes,
//   - for all processes by membarrier(2), but for those that it misses in the kernel's gap
//     (shmem/doorbell.h): `missed` says that it may have, until all are settled a while later.
//
// Who includes this defines PROCESSES (3), LOCATIONS, STORED(who), the one location where a process
// stores without read-modify-writes, and which fences there are:
//   ASSISTED   light fences only stop the compiler, and heavy ones are membarriers; without it, both
//              are full fences of the process that executes them
//   GAP        with ASSISTED: membarrier may miss any of the others

byte memory[LOCATIONS];
byte copies[PROCESSES * LOCATIONS];   // as each process sees them
bool waiting[PROCESSES * LOCATIONS];  // stored by that process, seen by no other
bool missed;

#define OF(who, location) ((who) * LOCATIONS + (location))

// Inside d_step or atomic; `i` counts.
#define SETTLE(who, i)                                \
  i = 0;                                              \
  do                                                  \
  :: i < LOCATIONS ->                                 \
     if                                               \
     :: waiting[OF(who, i)] -> leave(who, i)          \
     :: else -> copies[OF(who, i)] = memory[i]        \
     fi;                                              \
     i++                                              \
  :: else -> break                                    \
  od;                                                 \
  i = 0

inline leave(who, location) {
  memory[location] = copies[OF(who, location)];
  waiting[OF(who, location)] = false
}

inline full_fence(who) {
  d_step { SETTLE(who, i) }
}

// Before a load that follows a store, of the frequent side and of the rare side.
inline light(who) {
#ifdef ASSISTED
  skip
#else
  full_fence(who)
#endif
}
inline heavy(who) {
  full_fence(who);
#ifdef ASSISTED
  atomic {
    other = 0;
    do
    :: other < PROCESSES ->
       if
       :: d_step { SETTLE(other, i) }
#ifdef GAP
       :: other != who -> missed = true
#endif
       fi;
       other++
    :: else -> break
    od;
    other = 0
  };
  full_fence(who)
#endif
}

inline store(who, location, value) {
  d_step {
    copies[OF(who, location)] = value;
    waiting[OF(who, location)] = true
  }
}

// The present value, or any that was there since the process was settled or read the location last.
inline load(who, location, result) {
  atomic {
    if
    :: !waiting[OF(who, location)] -> copies[OF(who, location)] = memory[location]
    :: true
    fi;
    result = copies[OF(who, location)]
  }
}

// Read-modify-writes with std::memory_order_seq_cst. `result` is the value before.
inline read_and_write(who, location, result, value) {
  d_step {
    SETTLE(who, i);
    result = memory[location];
    memory[location] = value;
    copies[OF(who, location)] = value
  }
}

active proctype Hardware() {
  byte i;
end:
  do
  // A store leaves.
  :: d_step { waiting[OF(0, STORED(0))] -> leave(0, STORED(0)) }
  :: d_step { waiting[OF(1, STORED(1))] -> leave(1, STORED(1)) }
  :: d_step { waiting[OF(2, STORED(2))] -> leave(2, STORED(2)) }
  // The kernel's gap ends.
  :: d_step {
       missed -> SETTLE(1, i); SETTLE(2, i); SETTLE(0, i); missed = false
     }
  od
}
