// shmem/doorbell.h: two neighbours, and the sleeper. It does not sleep for ever while there is a
// message that it has not seen.
//
// FIRST and SECOND: how many messages the neighbours send at most.
//
// Each LEAVE_OUT_... takes one thing away that the algorithm needs, and must make this fail.

#define PROCESSES 3  // the sleeper, two neighbours
#define LOCATIONS 4
#define SLEEPER   0
#define ASLEEP    0
#define RINGS     1
#define MESSAGES  2  // how many the first neighbour has sent; then the second
#define STORED(who) ((who) == SLEEPER -> ASLEEP : MESSAGES + (who) - 1)

#include "memory.pml"

byte sent[2];
byte done;

inline take_back() {
  read_and_write(me, ASLEEP, seen, 0)
}
inline count_ring() {
  read_and_write(me, RINGS, rings, memory[RINGS] + 1)  // and FUTEX_WAKE
}

inline ring() {
#ifdef LEAVE_OUT_TAKING_BACK_FIRST
  count_ring();
  take_back()
#else
  take_back();
  if
  :: seen != 0 -> count_ring()
  :: else
  fi
#endif
}

proctype Neighbour(byte place, messages) {
  byte me = place + 1;
  byte i, seen, rings;
  do
  :: sent[place] < messages ->
     sent[place]++;
     store(me, MESSAGES + place, sent[place]);
#ifndef LEAVE_OUT_LIGHT_FENCE
     light(me);
#endif
     load(me, ASLEEP, seen);
     if
     :: seen != 0 -> ring()
     :: else
     fi;
     seen = 0;
     rings = 0
  :: break
  od;
  done++
}

inline look() {
  load(SLEEPER, MESSAGES, seen);
  d_step { found = found || seen != handled[0]; handled[0] = seen };
  load(SLEEPER, MESSAGES + 1, seen);
  d_step { found = found || seen != handled[1]; handled[1] = seen; seen = 0 }
}

inline about_to_sleep() {
#ifdef LEAVE_OUT_TICKET_FIRST
  store(SLEEPER, ASLEEP, 1);
  load(SLEEPER, RINGS, ticket);
#else
  load(SLEEPER, RINGS, ticket);
  store(SLEEPER, ASLEEP, 1);
#endif
#ifndef LEAVE_OUT_HEAVY_FENCE
  heavy(SLEEPER);
#endif
}

// SleepLimit: in the kernel's gap the first sleep with a ticket is short, which is long enough for
// the gap to end. All others last for ever here.
#if defined(GAP) && !defined(LEAVE_OUT_SHORT_SLEEP)
#define SHORT (!slept_with_ticket)
#else
#define SHORT false
#endif

inline sleep() {
#ifdef LEAVE_OUT_COMPARISON_WITH_TICKET
  ticket = memory[RINGS];
#endif
  if
  :: memory[RINGS] != ticket
  :: SHORT && !missed
  :: !SHORT && memory[RINGS] == ticket && done == 2 ->
     assert(handled[0] == sent[0] && handled[1] == sent[1]);
     break
  fi
}

proctype Sleeper() {
  byte i, other, seen, ticket, last_ticket;
  bool found, slept_with_ticket;
  byte handled[2];
  do
#ifdef LEAVE_OUT_LOOK_BEFORE_SLEEP
  :: found = false;
     look();
     about_to_sleep();
#else
  :: about_to_sleep();
     found = false;
     look();
#endif
     if
     :: found
     :: else ->
        slept_with_ticket = slept_with_ticket && ticket == last_ticket;
        last_ticket = ticket;
        sleep();
        slept_with_ticket = true
     fi
  od
}

init {
  atomic {
    run Sleeper();
    run Neighbour(0, FIRST);
    run Neighbour(1, SECOND)
  }
}
