// am/route/event_descriptor.h: a neighbour, and two threads of one process that sleep on descriptors
// of their own. Neither sleeps for ever while there is a message that it has not seen; every message
// here is for both.
//
// FIRST: how many messages the neighbour sends at most. There is no second one: SECOND is 0.
//
// Each LEAVE_OUT_... takes one thing away that the algorithm needs, and must make this fail.

#define PROCESSES 3  // the two sleepers, the neighbour
#define LOCATIONS 3
#define NEIGHBOUR 2
#define ASLEEP    0
#define RINGS     1
#define MESSAGES  2
#define STORED(who) ((who) == NEIGHBOUR -> MESSAGES : ASLEEP)

#include "memory.pml"

byte sent;
bool done;
byte socket;     // rings that nobody has taken back
bool signal[2];  // by sleeper
bool armed[2];
bool locked;     // Rings::mutex_

proctype Neighbour() {
  byte i, seen, rings;
  do
  :: sent < FIRST ->
     sent++;
     store(NEIGHBOUR, MESSAGES, sent);
     light(NEIGHBOUR);
     load(NEIGHBOUR, ASLEEP, seen);
     if
     :: seen != 0 ->
        read_and_write(NEIGHBOUR, ASLEEP, seen, 0);
        if
        :: seen != 0 ->
           read_and_write(NEIGHBOUR, RINGS, rings, memory[RINGS] + 1);
           socket++
        :: else
        fi
     :: else
     fi;
     seen = 0;
     rings = 0
  :: break
  od;
  done = true
}

// A read-modify-write, and so a full fence.
inline lock(me) {
  d_step { !locked -> locked = true; SETTLE(me, i) }
}
inline unlock() { locked = false }

// Rings::take_back(), by who is not armed.
inline take_back(me) {
  lock(me);
#ifndef LEAVE_OUT_SIGNAL
  if
  :: armed[1 - me] -> signal[1 - me] = true
  :: else
  fi;
#endif
  socket = 0;
  unlock()
}

inline clear(me) {
  if
  :: socket != 0 -> take_back(me)
  :: else
  fi;
  signal[me] = false
}

inline look(me) {
  load(me, MESSAGES, seen);
  d_step { found = seen != handled; handled = seen; seen = 0 }
}

inline about_to_sleep(me) {
  load(me, RINGS, ticket);
  store(me, ASLEEP, 1);
  heavy(me)
}

inline register(me) {
  lock(me);
  armed[me] = true;
  unlock()
}

// In the kernel's gap the first sleep with a ticket is short, as in doorbell.pml.
#if defined(GAP) && !defined(LEAVE_OUT_TIMER)
#define SHORT (!slept_with_ticket)
#else
#define SHORT false
#endif

proctype Sleeper(byte me) {
  byte i, other, seen, ticket, last_ticket, now, handled;
  bool found, slept_with_ticket;
  do
  :: clear(me);
     about_to_sleep(me);
     look(me);
     if
     :: found
     :: else ->
#ifndef LEAVE_OUT_REGISTERING_FIRST
        register(me);
#endif
#ifdef LEAVE_OUT_COMPARISON_WITH_TICKET
        now = ticket;
#else
        load(me, RINGS, now);
#endif
        if
        :: now != ticket
        :: else ->
#ifdef LEAVE_OUT_REGISTERING_FIRST
           register(me);
#endif
           slept_with_ticket = slept_with_ticket && ticket == last_ticket;
           last_ticket = ticket;
           if
           :: socket != 0 || signal[me]
           :: SHORT && !missed
           :: !SHORT && socket == 0 && !signal[me] && done ->
              assert(handled == sent);
              break
           fi;
           slept_with_ticket = true
        fi;
        lock(me);
        armed[me] = false;
        unlock();
        now = 0
     fi
  od
}

init {
  atomic {
    run Sleeper(0);
    run Sleeper(1);
    run Neighbour()
  }
}
