/* EM3D: electric and magnetic values on a bipartite graph whose edges go to nodes of any process; in four
   versions, from one that reads through global pointers to one that stores what others need. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <split-c/split-c.h>
#include "check.h"

#define NODES 20
#define DEGREE 4
#define STEPS 5

typedef struct graph_node *global node_ptr;
typedef struct graph_node {
  double value;
  int edge_count;
  double weights[DEGREE];
  node_ptr *neighbours;                 /* edge_count of them */
  double ghosts[DEGREE];                /* their values, for some versions */
  struct graph_node *next;              /* of this process */
  struct { int proc, slot; } last_reader;
} graph_node;

typedef struct { graph_node *e_nodes, *h_nodes; } graph_t;

graph_node *global *spread heads[2];    /* of each process: its e_nodes and h_nodes */

static int other_end(unsigned seed, int side, int proc, int i, int k, int *end)
{
  unsigned state = seed + 77 * side + 1009 * proc + 13 * i + k;
  draw(&state);
  *end = draw(&state) % NODES;
  return draw(&state) % 3 ? proc : draw(&state) % PROCS;
}
static double first_value(int side, int proc, int i) { return (side ? 1.0 : -1.0) + proc * 0.25 + i * 0.125; }
static double weight(int i, int k) { return 0.0625 * (k + 1) + 0.03125 * (i % 3); }

static graph_node *make_nodes(int side)
{
  graph_node *all = malloc(NODES * sizeof(graph_node));
  int i, k;
  for (i = 0; i < NODES; i++) {
    graph_node *node = &all[i];
    node->value = first_value(side, MYPROC, i);
    node->edge_count = DEGREE;
    node->next = i < NODES - 1 ? node + 1 : NULL;
    node->neighbours = malloc(DEGREE * sizeof(node_ptr));
    for (k = 0; k < DEGREE; k++) node->weights[k] = weight(i, k);
  }
  return all;
}

graph_t all_make_graph(unsigned seed)
{
  graph_t g;
  graph_node *node;
  int side, i, k, p, end;
  g.e_nodes = make_nodes(0);
  g.h_nodes = make_nodes(1);
  for (side = 0; side < 2; side++) heads[side] = all_spread_malloc(PROCS, sizeof(node_ptr));
  heads[0][MYPROC] = (node_ptr)g.e_nodes;
  heads[1][MYPROC] = (node_ptr)g.h_nodes;
  barrier();
  for (side = 0; side < 2; side++) {
    for (i = 0, node = side ? g.h_nodes : g.e_nodes; node; node = node->next, i++) {
      for (k = 0; k < node->edge_count; k++) {
        p = other_end(seed, side, MYPROC, i, k, &end);
        node->neighbours[k] = heads[1 - side][p] + end;
      }
    }
  }
  barrier();
  return g;
}

void sweep_by_reads(graph_node *nodes)
{
  graph_node *cur;
  int k;
  for (cur = nodes; cur; cur = cur->next)
    for (k = 0; k < cur->edge_count; k++)
      cur->value = cur->value - cur->neighbours[k]->value * cur->weights[k];
}

void sweep_by_gets(graph_node *nodes)
{
  graph_node *cur;
  int k;
  for (cur = nodes; cur; cur = cur->next)
    for (k = 0; k < cur->edge_count; k++) cur->ghosts[k] := cur->neighbours[k]->value;
  sync();
  for (cur = nodes; cur; cur = cur->next)
    for (k = 0; k < cur->edge_count; k++) cur->value = cur->value - cur->ghosts[k] * cur->weights[k];
}

void sweep_by_bulk(graph_node *nodes)
{
  graph_node *cur, copy;
  int k;
  for (cur = nodes; cur; cur = cur->next)
    for (k = 0; k < cur->edge_count; k++) {
      node_ptr from = cur->neighbours[k];
      if (toproc(from) == MYPROC) {
        cur->value -= tolocal(from)->value * cur->weights[k];
      } else {
        bulk_read(&copy, from, sizeof(graph_node));
        cur->value -= copy.value * cur->weights[k];
      }
    }
}

/* The owners store into the ghosts of the readers, which count bytes. */
void sweep_by_stores(unsigned seed, int side, graph_node *sources, graph_node *nodes)
{
  int p, i, k, end, n = 0;
  graph_node *cur;
  for (p = 0; p < PROCS; p++)
    for (i = 0; i < NODES; i++)
      for (k = 0; k < DEGREE; k++)
        if (other_end(seed, side, p, i, k, &end) == MYPROC) {
          node_ptr reader = heads[side][p] + i;
          reader->ghosts[k] :- sources[end].value;
        }
  store_sync(NODES * DEGREE * sizeof(double));
  for (cur = nodes; cur; cur = cur->next, n++)
    for (k = 0; k < cur->edge_count; k++) cur->value = cur->value - cur->ghosts[k] * cur->weights[k];
  CHECK(n == NODES);
}

static void oracle(unsigned seed, double *values)
{
  int step, side, p, i, k, end, from;
  for (side = 0; side < 2; side++) for (p = 0; p < PROCS; p++) for (i = 0; i < NODES; i++)
    values[(side * PROCS + p) * NODES + i] = first_value(side, p, i);
  for (step = 0; step < STEPS; step++)
    for (side = 0; side < 2; side++) for (p = 0; p < PROCS; p++) for (i = 0; i < NODES; i++) for (k = 0; k < DEGREE; k++) {
      from = other_end(seed, side, p, i, k, &end);
      values[(side * PROCS + p) * NODES + i] = values[(side * PROCS + p) * NODES + i] -
        values[((1 - side) * PROCS + from) * NODES + end] * weight(i, k);
    }
}

void test_version(unsigned seed, int version)
{
  graph_t g = all_make_graph(seed);
  double *expected = malloc(2 * PROCS * NODES * sizeof(double));
  graph_node *sides[2];
  int step, side, i, next = (MYPROC + 1) % PROCS;
  sides[0] = g.e_nodes; sides[1] = g.h_nodes;
  for (step = 0; step < STEPS; step++) {
    for (side = 0; side < 2; side++) {
      switch (version) {
        case 0: sweep_by_reads(sides[side]); break;
        case 1: sweep_by_gets(sides[side]); break;
        case 2: sweep_by_bulk(sides[side]); break;
        default: sweep_by_stores(seed, side, sides[1 - side], sides[side]);
      }
      barrier();
    }
  }
  oracle(seed, expected);
  for (side = 0; side < 2; side++)
    for (i = 0; i < NODES; i++) {
      CHECK(sides[side][i].value == expected[(side * PROCS + MYPROC) * NODES + i]);
      CHECK(heads[side][next][i].value == expected[(side * PROCS + next) * NODES + i]);
    }
  heads[0][next]->last_reader.proc = MYPROC;
  (*heads[0][next]).last_reader.slot = 5;
  barrier();
  CHECK(g.e_nodes->last_reader.proc == (MYPROC + PROCS - 1) % PROCS && g.e_nodes->last_reader.slot == 5);
  barrier();
  for (side = 0; side < 2; side++) {
    for (i = 0; i < NODES; i++) free(sides[side][i].neighbours);
    free(sides[side]);
    all_spread_free(heads[side]);
  }
  free(expected);
}

int splitc_main(int argc, char **argv)
{
  unsigned seed = seed_of(argc, argv);
  int version;
  for (version = 0; version < 4; version++) test_version(seed + version, version);
  return failures;
}
