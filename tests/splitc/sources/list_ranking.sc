/* List ranking by pointer jumping, and a shared work queue with locks. */
#include <stdio.h>
#include <split-c/split-c.h>

#define PER_PROC 32
struct elem { struct elem *global succ; int rank; int id; };
typedef struct elem elem_t, *elem_p;
typedef elem_t *global elem_g;

struct queue {
  int lock, head, tail, item[256];
} *global the_queue;

struct queue *spread queues;
elem_t *spread elems;
elem_g *jump;          /* local arrays of global pointers */
int *newrank;

elem_g locate(int i) { return (elem_g)(elems + i % PROCS) + i / PROCS; }

void lock_queue(struct queue *global q) { while (test_and_set(&q->lock)) ; }
void unlock_queue(struct queue *global q) { q->lock = 0; }

int dequeue(struct queue *global q)
{
  int it = -1;
  lock_queue(q);
  if (q->head < q->tail) { it = q->item[q->head % 256]; q->head++; }
  unlock_queue(q);
  return it;
}
void enqueue(struct queue *global q, int it)
{
  lock_queue(q);
  q->item[q->tail % 256] = it;
  q->tail = q->tail + 1;
  unlock_queue(q);
}

int splitc_main(int argc, char *argv[])
{
  int i, n = PER_PROC * PROCS, step = 7, more, got, done = 0, sum = 0;
  elem_p mine;
  elems = (elem_t *spread) all_spread_malloc(PROCS, PER_PROC * sizeof(elem_t));
  queues = all_spread_malloc(PROCS, sizeof(struct queue));
  the_queue = (struct queue *global) queues;
  jump = (elem_g *) malloc(PER_PROC * sizeof(elem_g));
  newrank = (int *) calloc(PER_PROC, sizeof(int));
  mine = (elem_p) (elems + MYPROC);
  for (i = 0; i < PER_PROC; i++) {          /* a permutation as a list: id -> id + step mod n, cut before 0 */
    int id = i * PROCS + MYPROC, nxt = (id + step) % n;
    mine[i].id = id;
    mine[i].rank = nxt ? 1 : 0;
    if (nxt) mine[i].succ = locate(nxt); else mine[i].succ = NULL;
  }
  barrier();
  do {
    more = 0;
    for (i = 0; i < PER_PROC; i++) {
      if (mine[i].succ == NULL) { jump[i] = NULL; newrank[i] = mine[i].rank; continue; }
      newrank[i] := mine[i].succ->rank;
      jump[i] := mine[i].succ->succ;
    }
    sync();
    barrier();
    for (i = 0; i < PER_PROC; i++) {
      if (!mine[i].succ) continue;
      mine[i].rank += newrank[i];
      mine[i].succ = jump[i];
      if (jump[i]) more = 1;
    }
    barrier();
  } while (all_reduce_to_all_or(more));
  for (i = 0; i < PER_PROC; i++) {
    int k, at = mine[i].id;
    for (k = 0; (at + step) % n != 0; k++) at = (at + step) % n;
    if (k != mine[i].rank) { printf("rank of %d is %d, not %d\n", mine[i].id, mine[i].rank, k); exit(1); }
  }
  on_one { for (i = 1; i <= 100; i++) enqueue(the_queue, i); }
  barrier();
  while ((got = dequeue(the_queue)) >= 0) { sum += got; done++; }
  sum = all_reduce_to_one_add(sum);
  done = all_reduce_to_one_add(done);
  on_one { if (done != 100 || sum != 5050 || the_queue->head != 100) exit(1); }
  on_one { printf("list of %d ranked, %d items add up to %d, head %d\n", n, done, sum, the_queue->head); }
  return 0;
}
