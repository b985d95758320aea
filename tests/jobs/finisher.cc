// Sends one-way messages and finishes at once; afterwards every process prints how many it handled.
//
//   finisher COUNT [endpoints-end-first]
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "am/am.h"

namespace {

std::uint64_t handled = 0;
void on_message(am::OneWay, std::uint32_t) { ++handled; }

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 10;
  const bool ends_first = argc > 2;
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint receiver(bundle);
  receiver.add_handlers<&on_message>();
  job.connect(receiver);
  auto sender = std::make_unique<am::Endpoint>(bundle);
  sender->add_handlers<&on_message>();
  sender->set_tag(1);
  sender->map(0, receiver.translation_name((job.rank() + 1) % job.size()), 1);
  for (int i = 0; i < count; ++i) sender->request<&on_message>(0, 1u);
  if (ends_first) sender.reset();
  job.finish(bundle);
  sender.reset();
  std::printf("handled %llu\n", static_cast<unsigned long long>(handled));
}
