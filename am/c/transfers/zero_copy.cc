#include "am/zero_copy/zero_copy.h"

#include <bit>
#include <memory>
#include <span>
#include <string>

#include "am/c/transfers/held.h"
#include "am/c/zero_copy.h"

namespace am::c {

struct BufferState {
  BufferState(ZeroCopyState& whose, std::span<std::byte> memory, ZeroCopyCallback callback,
              ZeroCopyMode mode)
      : owner(whose), core(whose.core, memory, std::move(callback), mode) {
    ++owner.buffers;
  }
  BufferState(const BufferState&) = delete;
  BufferState& operator=(const BufferState&) = delete;
  ~BufferState() { --owner.buffers; }

  ZeroCopyState& owner;
  ZeroCopyBuffer core;
};

}  // namespace am::c

struct AM_Buffer {
  am::c::BufferState* core = nullptr;
};

namespace am::c {
namespace {

constexpr std::size_t kMostZeroCopies = 1024;
constexpr std::size_t kMostBuffers = 1 << 20;

constinit Places<AM_ZeroCopy, kMostZeroCopies> zero_copies;
constinit Places<AM_Buffer, kMostBuffers> buffers;

ZeroCopyBuffer& core_of(AM_buffer_t buffer) {
  check_handle(buffers.holds(buffer), buffer, "zero-copy buffer");
  return buffer->core->core;
}

void end_buffers_of(eb_t bundle) {
  buffers.for_each([&](AM_buffer_t one) {
    if (one->core->owner.bundle == bundle) drop(buffers, one);
  });
  zero_copies.for_each([&](AM_zero_copy_t one) {
    if (one->core->bundle == bundle) drop(zero_copies, one);
  });
}

void forget_buffers() noexcept {
  buffers.forget();
  zero_copies.forget();
}

ZeroCopyMode checked(int mode, const void* memory, std::size_t nbytes) {
  static_assert(static_cast<int>(ZeroCopyMode::kUnreg) == AM_BUFFER_UNREG &&
                static_cast<int>(ZeroCopyMode::kReg) == AM_BUFFER_REG &&
                static_cast<int>(ZeroCopyMode::kPrereg) == AM_BUFFER_PREREG &&
                static_cast<int>(ZeroCopyMode::kNoreg) == AM_BUFFER_NOREG);
  if (mode < AM_BUFFER_UNREG || mode > AM_BUFFER_NOREG) {
    refuse(AM_ERR_BAD_ARG, std::to_string(mode) +
                               " is no mode; give one of AM_BUFFER_UNREG, _REG, _PREREG and "
                               "_NOREG");
  }
  check_memory(memory, nbytes);
  return static_cast<ZeroCopyMode>(mode);
}

int transfer(const char* call, AM_buffer_t buffer, const AM_buffer_info_t& other, bool put) {
  return guarded(call, [&] {
    ZeroCopyBuffer& mine = core_of(buffer);
    const auto info = std::bit_cast<ZeroCopyInfo>(other);
    const std::uint64_t source = put ? mine.memory().size() : info.bytes;
    const std::uint64_t destination = put ? info.bytes : mine.memory().size();
    if (source > destination) {
      refuse(AM_ERR_BAD_ARG, "the source has " + std::to_string(source) +
                                 " bytes, the destination only " + std::to_string(destination));
    }
    put ? mine.put(info) : mine.get(info);
  });
}

}  // namespace

ZeroCopyState& core_of(AM_zero_copy_t zero) {
  check_handle(zero_copies.holds(zero), zero, "set of zero-copy buffers");
  return *zero->core;
}

ZeroCopyCallback to_callback(AM_transfer_callback_t callback, void* data) {
  if (callback == nullptr) return {};
  return [callback, data](const ZeroCopyDone& done) {
    const AM_transfer_t told{.address = reinterpret_cast<void*>(done.buffer.address),
                             .nbytes = done.bytes,
                             .peer = static_cast<int>(done.peer),
                             .is_source = done.source ? 1 : 0,
                             .reference = done.buffer.reference};
    callback(&told, data);
  };
}

}  // namespace am::c

using namespace am::c;

int AM_ZeroCopyStart(eb_t bundle, size_t pool_bytes, AM_zero_copy_t* zero) {
  return guarded("AM_ZeroCopyStart", [=] {
    outside_handlers(core_of(bundle));
    check_result(zero);
    see_to<&forget_buffers, &end_buffers_of>();
    *zero = hold(zero_copies, std::make_unique<ZeroCopyState>(bundle, pool_bytes),
                 "sets of zero-copy buffers");
  });
}

int AM_ZeroCopyEnd(AM_zero_copy_t zero) {
  return guarded("AM_ZeroCopyEnd", [zero] {
    core_of(zero);
    check_no_handler();
    if (const std::size_t left = zero->core->buffers) {
      refuse(AM_ERR_RESOURCE,
             std::to_string(left) + " of its buffers are there still; AM_BufferFree() them");
    }
    drop(zero_copies, zero);
  });
}

int AM_ZeroCopyWait(AM_zero_copy_t zero) {
  return guarded("AM_ZeroCopyWait",
                 [zero] { outside_handlers(core_of(zero)).core.wait(am::SourceLocation()); });
}

int AM_ZeroCopyAlloc(AM_zero_copy_t zero, size_t nbytes, void** memory) {
  return answer("AM_ZeroCopyAlloc", memory,
                [=] { return core_of(zero).core.alloc(nbytes).data(); });
}

int AM_ZeroCopyRelease(AM_zero_copy_t zero, void* memory) {
  return guarded("AM_ZeroCopyRelease", [=] {
    core_of(zero).core.free({static_cast<std::byte*>(memory), 0});
  });
}

int AM_BufferCreate(AM_zero_copy_t zero, void* memory, size_t nbytes,
                    AM_transfer_callback_t callback, void* data, int mode, AM_buffer_t* buffer) {
  return guarded("AM_BufferCreate", [=] {
    ZeroCopyState& state = core_of(zero);
    check_result(buffer);
    const am::ZeroCopyMode when = checked(mode, memory, nbytes);
    *buffer = hold(
        buffers,
        std::make_unique<BufferState>(state, std::span(static_cast<std::byte*>(memory), nbytes),
                                      to_callback(callback, data), when),
        "zero-copy buffers");
  });
}

int AM_BufferInit(AM_buffer_t buffer, void* memory, size_t nbytes, AM_transfer_callback_t callback,
                  void* data, int mode) {
  return guarded("AM_BufferInit", [=] {
    am::ZeroCopyBuffer& core = core_of(buffer);
    const am::ZeroCopyMode when = checked(mode, memory, nbytes);
    core.init({static_cast<std::byte*>(memory), nbytes}, to_callback(callback, data), when);
  });
}

int AM_BufferFree(AM_buffer_t buffer) {
  return guarded("AM_BufferFree", [buffer] {
    core_of(buffer);
    drop(buffers, buffer);
  });
}

int AM_BufferInfo(AM_buffer_t buffer, AM_buffer_info_t* info) {
  return answer("AM_BufferInfo", info,
                [=] { return std::bit_cast<AM_buffer_info_t>(core_of(buffer).info()); });
}

int AM_BufferSetReference(AM_buffer_t buffer, uint64_t reference) {
  return guarded("AM_BufferSetReference", [=] { core_of(buffer).set_reference(reference); });
}

int AM_BufferGet(AM_buffer_t buffer, AM_buffer_info_t source) {
  return transfer("AM_BufferGet", buffer, source, false);
}

int AM_BufferPut(AM_buffer_t buffer, AM_buffer_info_t destination) {
  return transfer("AM_BufferPut", buffer, destination, true);
}

int AM_BufferDeregister(AM_buffer_t buffer) {
  return guarded("AM_BufferDeregister", [buffer] { core_of(buffer).deregister_memory(); });
}

int AM_BufferRegister(AM_buffer_t buffer) {
  return guarded("AM_BufferRegister", [buffer] { core_of(buffer).register_memory(); });
}

int AM_BufferInFlight(AM_buffer_t buffer, int* transfers) {
  return answer("AM_BufferInFlight", transfers,
                [=] { return static_cast<int>(core_of(buffer).under_way()); });
}
