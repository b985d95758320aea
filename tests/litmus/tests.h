// The litmus tests, by the operations that they are about. Their names are those of the literature:
// SB store buffering, MP message passing, LB load buffering, WRC write-to-read causality, ISA2 the
// same over two flags, IRIW independent reads of independent writes, 2+2W two writes each, R and S
// those with one read; CoRR, CoWW, CoRW, CoWR coherence: reads and writes of one object.
#pragma once

#include <vector>

#include "tests/litmus/program.h"

namespace litmus {

std::vector<Case> plain_tests();        // *p, bulk_read, bulk_write
std::vector<Case> split_phase_tests();  // get, put, sync
std::vector<Case> store_tests();
std::vector<Case> atomic_tests();
std::vector<Case> message_tests();
std::vector<Case> barrier_tests();

}  // namespace litmus
