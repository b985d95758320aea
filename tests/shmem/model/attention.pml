// shmem/attention.h: two senders, whose bits share a word, and the receiver. No message is left
// behind: when the senders are done, a poll finds all that the polls before have not.
//
// FIRST and SECOND: how many messages they send at most.
//
// Each LEAVE_OUT_... takes one thing away that the algorithm needs, and must make this fail.

#define PROCESSES 3  // the receiver, two senders
#define LOCATIONS 4
#define RECEIVER  0
#define SUMMARY   0
#define WORD      1
#define MESSAGES  2  // how many the first sender has sent; then the second

#define STORED(who) ((who) == RECEIVER -> WORD : MESSAGES + (who) - 1)

#include "memory.pml"

byte sent[2];
byte done;

#define BIT(place) (1 << (place))

proctype Sender(byte place, messages) {
  byte me = place + 1;
  byte i, seen;
  do
  :: sent[place] < messages ->
     sent[place]++;
     store(me, MESSAGES + place, sent[place]);
#ifndef LEAVE_OUT_LIGHT_FENCE
     light(me);
#endif
     load(me, WORD, seen);
     if
     :: (seen & BIT(place)) == 0 ->
#ifdef LEAVE_OUT_BIT_BEFORE_SUMMARY
        read_and_write(me, SUMMARY, seen, 1);
        read_and_write(me, WORD, seen, memory[WORD] | BIT(place))
#else
        read_and_write(me, WORD, seen, memory[WORD] | BIT(place));
        read_and_write(me, SUMMARY, seen, 1)
#endif
     :: else
     fi;
     seen = 0
  :: break
  od;
  done++
}

inline take_summary() {
  read_and_write(RECEIVER, SUMMARY, seen, 0)
}

inline activate() {
#ifdef LEAVE_OUT_SUMMARY_BEFORE_WORDS
  load(RECEIVER, WORD, word);
  take_summary();
#else
  take_summary();
  load(RECEIVER, WORD, word);
#endif
  d_step {
    place = 0;
    do
    :: place < 2 ->
       if
       :: (word & BIT(place)) != 0 && !known[place] ->
          is_active[place] = true;
          used[place] = true;
          leaving[place] = false;
          known[place] = true
       :: else
       fi;
       place++
    :: else -> break
    od;
    place = 0;
    word = 0;
    seen = 0
  }
}

inline visit(at) {
  if
  :: is_active[at] ->
     load(RECEIVER, MESSAGES + at, seen);
     d_step {
       if
       :: seen != handled[at] -> handled[at] = seen; used[at] = true
       :: else
       fi;
       seen = 0
     }
  :: else
  fi
}

inline poll() {
  load(RECEIVER, SUMMARY, seen);
  if
  :: seen != 0 -> activate()
  :: else
  fi;
  visit(0);
  visit(1)
}

// What the last sweep made leave goes, unless something came.
inline let_go(at) {
  if
  :: is_active[at] && leaving[at] ->
#ifdef LEAVE_OUT_LOOK_AT_THE_BIT
     word = 0;
#else
     load(RECEIVER, WORD, word);
#endif
     if
     :: !used[at] && (word & BIT(at)) == 0 ->
        d_step {
          is_active[at] = false;
          leaving[at] = false;
#ifndef LEAVE_OUT_FORGETTING
          known[at] = false
#endif
        }
     :: else
     fi;
     word = 0
  :: else
  fi
}

inline clear(at) {
  if
  :: is_active[at] ->
     if
     :: leaving[at] ->
        leaving[at] = false;
        atomic { memory[WORD] = memory[WORD] | BIT(at) }
     :: else
     fi;
     if
     :: !used[at] ->
        leaving[at] = true;
#ifdef LEAVE_OUT_ATOMIC_CLEAR
        load(RECEIVER, WORD, word);
        store(RECEIVER, WORD, word & (3 - BIT(at)));
#else
        read_and_write(RECEIVER, WORD, word, memory[WORD] & (3 - BIT(at)));
#endif
        word = 0
     :: else
     fi;
     used[at] = false
  :: else
  fi
}

inline sweep() {
  let_go(0);
  let_go(1);
  clear(0);
  clear(1);
#ifndef LEAVE_OUT_HEAVY_FENCE
  if
  :: leaving[0] || leaving[1] -> heavy(RECEIVER)
  :: else
  fi;
#endif
#ifdef LEAVE_OUT_ANOTHER_SWEEP
  let_go(0);
  let_go(1);
#endif
}

proctype Receiver() {
  byte i, other, place, seen, word;
  bool is_active[2], used[2], leaving[2], known[2];
  byte handled[2];
  bool polled;  // since the last sweep, and after any that heavy() missed has been settled
  do
#ifdef LEAVE_OUT_ENOUGH_POLLS
  :: polled = true;
#else
  :: polled = !missed;
#endif
     poll()
#ifdef LEAVE_OUT_POLLS_UNTIL_SWEEP
  :: true -> sweep()
#else
  :: polled -> sweep(); polled = false
#endif
  :: done == 2 -> break
  od;
  skip;  // no way leads into a d_step
  d_step { SETTLE(1, i); SETTLE(2, i); SETTLE(RECEIVER, i) }
  poll();
  assert(handled[0] == sent[0] && handled[1] == sent[1])
}

init {
  atomic {
    run Receiver();
    run Sender(0, FIRST);
    run Sender(1, SECOND)
  }
}
