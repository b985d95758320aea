// A process of a job that stops where gdb shows its pointers and arrays: see gdb_test.sh.
#include <cstring>

#include "splitc/splitc.h"

using namespace splitc;

struct Cell {
  int x;
  double y;
};
struct Link {
  int x;
  global_ptr<Link> next;
};

// Where gdb stops, and prints the variables of the caller.
[[gnu::noinline]] void stop_here(const void*) { asm volatile("" ::: "memory"); }

int main(int argc, char** argv) {
  return run(argc, argv, [](Args) {
    spread_array<int> squares(5);
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = int(i * i);
    spread_array<Cell> cells(4, blocked);
    cells[1] = Cell{7, 2.5};
    const global_ptr<int> element = &squares[3];
    const global_ptr<Cell> cell = &cells[1];
    const spread_ptr<int> spread = squares + 2;
    const global_ptr<int> elsewhere(procs() + 5, 64);
    const global_ptr<int> null;
    spread_array<Link> ring(1);
    ring[0] = Link{5, &ring[0]};
    const global_ptr<Link> link = &ring[0];
    alignas(spread_array<int>) unsigned char bytes[sizeof(spread_array<int>)];
    std::memset(bytes, 255, sizeof bytes);
    const auto* const no_array = reinterpret_cast<const spread_array<int>*>(bytes);
    const void* const all[] = {&squares,   &cells, &element, &cell,   &spread,
                               &elsewhere, &null,  &link,    no_array};
    stop_here(all);
  });
}
