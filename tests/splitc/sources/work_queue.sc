/* Queues of structs under locks that all push to and pop from, a broadcast by doubling, and a ring of
   stores that are counted. */
#include <split-c/control.h>
#include <split-c/split-c.h>
#include <string.h>
#include "check.h"

#define MAX_ITEMS 64
enum kind { LEAF, INNER, DONE };
typedef enum kind kind_t;
struct item { kind_t kind; unsigned short depth; char name[10]; long value; union { int i; float f; } u; };
typedef struct item item_t;
typedef struct queue {
  int lock, head, tail, pad;
  item_t items[MAX_ITEMS];
  struct queue *global next;
} queue_t, *queue_ptr;
typedef queue_t *global gqueue_t;
typedef item_t *global gitem_t;
typedef int (*visit_t)(item_t *, void *);

static queue_t *spread queues;
gqueue_t mine, neighbour;
long *spread totals;

static void lock(gqueue_t q) { while (test_and_set(&q->lock)) ; }
static void unlock(gqueue_t q) { q->lock = 0; }

static int push(gqueue_t q, item_t *it)
{
  int at, ok = 0;
  lock(q);
  at = q->tail;
  if (at < MAX_ITEMS) { q->items[at] = *it; q->tail = at + 1; ok = 1; }
  unlock(q);
  return ok;
}

static int pop(gqueue_t q, item_t *it)
{
  int ok = 0;
  lock(q);
  if (q->head < q->tail) { *it = q->items[q->head]; q->head++; ok = 1; }
  unlock(q);
  return ok;
}

static int add_value(item_t *it, void *sum) { *(long *)sum += it->value; return it->kind == LEAF; }

static int for_all(gqueue_t q, visit_t visit, void *closure)
{
  item_t buffer[MAX_ITEMS];
  int n = q->tail, i, leaves = 0;
  bulk_read(buffer, q->items, n * sizeof(item_t));
  for (i = 0; i < n; i++) leaves += (*visit)(&buffer[i], closure);
  return leaves;
}

/* value := of process 0, by doubling, each step a counted store. */
void broadcast(long *value)
{
  long *spread box = all_spread_malloc(PROCS, sizeof(long));
  int have, p;
  *tolocal(box + MYPROC) = *value;
  barrier();
  for (have = 1; have < PROCS; have *= 2) {
    if (MYPROC < have && MYPROC + have < PROCS) { box[MYPROC + have] :- *tolocal(box + MYPROC); }
    else if (MYPROC >= have && MYPROC < 2 * have) { store_sync(sizeof(long)); reset_store_sync(); }
  }
  *value = *tolocal(box + MYPROC);
  barrier();
  all_spread_free(box);
}

void ring(void)
{
  item_t out[3], *in;
  item_t *spread slots = (item_t *spread)all_spread_malloc(PROCS, 3 * sizeof(item_t));
  int k;
  memset(out, 0, sizeof out);
  for (k = 0; k < 3; k++) { out[k].value = MYPROC * 3 + k; strcpy(out[k].name, "ring"); out[k].u.i = k; }
  bulk_store_nocopy(slots + (MYPROC + 1) % PROCS, out, sizeof out);
  store_sync(3 * sizeof(*slots));
  in = (item_t *)(slots + MYPROC);
  for (k = 0; k < 3; k++) CHECK(in[k].value == (MYPROC + PROCS - 1) % PROCS * 3 + k && !strcmp(in[k].name, "ring") && in[k].u.i == k);
  barrier();
  all_spread_free(slots);
}

int splitc_main(int argc, char *argv[])
{
  item_t it, *p = &it;
  long sum = 0, seen = 0, seven = MYPROC ? 0 : 7;
  int i, got = 0, leaves;
  char buf[sizeof(mine->items[0].name) + 1];
  queues = all_spread_malloc(PROCS, sizeof(queue_t));
  totals = all_spread_malloc(PROCS, sizeof *totals);
  mine = (gqueue_t)(queues + MYPROC);
  neighbour = (gqueue_t)(queues + (MYPROC + 1) % PROCS);
  mine->next = neighbour;
  barrier();
  for (i = 0; i < 10; i++) {
    memset(p, 0, sizeof(*p));
    p->kind = i % 2 ? LEAF : INNER; p->value = 100 * MYPROC + i; p->depth = i;
    sprintf(p->name, "n%d", i);
    CHECK(push(i < 5 ? mine->next : mine, p));
  }
  barrier();
  leaves = for_all(mine, add_value, &sum);
  CHECK(leaves == 5 && mine->tail == 10 && mine->next->tail == 10);
  CHECK(sum == 10 + 500 * ((MYPROC + PROCS - 1) % PROCS) + 35 + 500 * MYPROC);
  bulk_read(buf, neighbour->items[0].name, sizeof(neighbour->items[0].name));
  CHECK(buf[0] == 'n' && buf[1] >= '0' && buf[1] <= '9' && neighbour->items[1].name[0] == 'n');
  barrier();
  while (pop(neighbour, &it) || pop(mine, p)) { seen += it.value; got++; }
  totals[MYPROC] = seen;
  barrier();
  CHECK(all_reduce_to_all_add(got) == 10 * PROCS);
  on_one { for (seen = sum = 0, i = 0; i < PROCS; i++) { seen += totals[i]; sum += 1000 * i + 45; } CHECK(seen == sum); }
  broadcast(&seven);
  CHECK(seven == 7);
  ring();
  all_spread_free(totals); all_spread_free(queues);
  return failures;
}
