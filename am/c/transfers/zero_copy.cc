// Zero-copy buffers in C.
#include "am/zero_copy/zero_copy.h"

#include <bit>
#include <memory>
#include <span>
#include <string>

#include "am/c/transfers/held.h"
#include "am/c/transfers/zero_copy_state.h"
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

int check(const char* call, AM_buffer_t buffer) noexcept {
  return check_handle(call, buffers.holds(buffer), buffer, "zero-copy buffer");
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

int begin(const char* call, eb_t bundle, std::size_t pool_bytes, AM_zero_copy_t* zero) {
  if (const int code = check_outside_handlers(call, bundle)) return code;
  if (const int code = check_result(call, zero)) return code;
  return guarded(call, [&] {
    see_to<&forget_buffers, &end_buffers_of>();
    return hold(call, zero_copies, std::make_unique<ZeroCopyState>(bundle, pool_bytes), zero);
  });
}

int end(const char* call, AM_zero_copy_t zero) {
  if (const int code = check_zero_copy(call, zero)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const std::size_t left = zero->core->buffers) {
    return fail(AM_ERR_RESOURCE, call,
                std::to_string(left) + " of its buffers are there still; AM_BufferFree() them");
  }
  return guarded(call, [&] { drop(zero_copies, zero); });
}

// What a program says of a buffer.
struct Given {
  void* memory;
  std::size_t nbytes;
  AM_transfer_callback_t callback;
  void* data;
  int mode;

  std::span<std::byte> bytes() const noexcept { return {static_cast<std::byte*>(memory), nbytes}; }
  ZeroCopyCallback function() const { return to_callback(callback, data); }
};

int check(const char* call, const Given& given) noexcept {
  if (given.mode < AM_BUFFER_UNREG || given.mode > AM_BUFFER_NOREG) {
    return fail(AM_ERR_BAD_ARG, call,
                std::to_string(given.mode) +
                    " is no mode; give one of AM_BUFFER_UNREG, _REG, "
                    "_PREREG and _NOREG");
  }
  return check_memory(call, given.memory, given.nbytes);
}

static_assert(static_cast<int>(ZeroCopyMode::kUnreg) == AM_BUFFER_UNREG &&
              static_cast<int>(ZeroCopyMode::kReg) == AM_BUFFER_REG &&
              static_cast<int>(ZeroCopyMode::kPrereg) == AM_BUFFER_PREREG &&
              static_cast<int>(ZeroCopyMode::kNoreg) == AM_BUFFER_NOREG);

int create(const char* call, AM_zero_copy_t zero, const Given& given, AM_buffer_t* buffer) {
  if (const int code = check_zero_copy(call, zero)) return code;
  if (const int code = check_result(call, buffer)) return code;
  if (const int code = check(call, given)) return code;
  return guarded(call, [&] {
    return hold(call, buffers,
                std::make_unique<BufferState>(*zero->core, given.bytes(), given.function(),
                                              static_cast<ZeroCopyMode>(given.mode)),
                buffer);
  });
}

int init(const char* call, AM_buffer_t buffer, const Given& given) {
  if (const int code = check(call, buffer)) return code;
  if (const int code = check(call, given)) return code;
  return guarded(call, [&] {
    buffer->core->core.init(given.bytes(), given.function(), static_cast<ZeroCopyMode>(given.mode));
  });
}

// What a program does with a buffer that exists: do_it(buffer).
template <class DoIt>
int with_buffer(const char* call, AM_buffer_t buffer, DoIt&& do_it) {
  if (const int code = check(call, buffer)) return code;
  return guarded(call, [&] { do_it(buffer->core->core); });
}

int transfer(const char* call, AM_buffer_t buffer, const AM_buffer_info_t& other, bool put) {
  if (const int code = check(call, buffer)) return code;
  const auto info = std::bit_cast<ZeroCopyInfo>(other);
  ZeroCopyBuffer& mine = buffer->core->core;
  const std::uint64_t source = put ? mine.memory().size() : info.bytes;
  const std::uint64_t destination = put ? info.bytes : mine.memory().size();
  if (source > destination) {
    return fail(AM_ERR_BAD_ARG, call,
                "the source has " + std::to_string(source) + " bytes, the destination only " +
                    std::to_string(destination));
  }
  return guarded(call, [&] { put ? mine.put(info) : mine.get(info); });
}

}  // namespace

int check_zero_copy(const char* call, AM_zero_copy_t zero) noexcept {
  return check_handle(call, zero_copies.holds(zero), zero, "set of zero-copy buffers");
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

using am::c::check_result;
using am::c::with_buffer;

int AM_ZeroCopyStart(eb_t bundle, size_t pool_bytes, AM_zero_copy_t* zero) {
  return am::c::begin("AM_ZeroCopyStart", bundle, pool_bytes, zero);
}

int AM_ZeroCopyEnd(AM_zero_copy_t zero) { return am::c::end("AM_ZeroCopyEnd", zero); }

int AM_ZeroCopyWait(AM_zero_copy_t zero) {
  constexpr const char* kCall = "AM_ZeroCopyWait";
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  if (const int code = am::c::check_no_handler(kCall)) return code;
  return am::c::guarded(kCall, [&] { zero->core->core.wait(am::SourceLocation()); });
}

int AM_ZeroCopyAlloc(AM_zero_copy_t zero, size_t nbytes, void** memory) {
  constexpr const char* kCall = "AM_ZeroCopyAlloc";
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  if (const int code = check_result(kCall, memory)) return code;
  return am::c::guarded(kCall, [&] { *memory = zero->core->core.alloc(nbytes).data(); });
}

int AM_ZeroCopyRelease(AM_zero_copy_t zero, void* memory) {
  constexpr const char* kCall = "AM_ZeroCopyRelease";
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  return am::c::guarded(kCall, [&] {
    zero->core->core.free({static_cast<std::byte*>(memory), 0});
  });
}

int AM_BufferCreate(AM_zero_copy_t zero, void* memory, size_t nbytes,
                    AM_transfer_callback_t callback, void* data, int mode, AM_buffer_t* buffer) {
  return am::c::create("AM_BufferCreate", zero, {memory, nbytes, callback, data, mode}, buffer);
}

int AM_BufferInit(AM_buffer_t buffer, void* memory, size_t nbytes, AM_transfer_callback_t callback,
                  void* data, int mode) {
  return am::c::init("AM_BufferInit", buffer, {memory, nbytes, callback, data, mode});
}

int AM_BufferFree(AM_buffer_t buffer) {
  if (const int code = am::c::check("AM_BufferFree", buffer)) return code;
  am::c::drop(am::c::buffers, buffer);
  return AM_OK;
}

int AM_BufferInfo(AM_buffer_t buffer, AM_buffer_info_t* info) {
  constexpr const char* kCall = "AM_BufferInfo";
  if (const int code = check_result(kCall, info)) return code;
  return with_buffer(kCall, buffer,
                     [&](auto& core) { *info = std::bit_cast<AM_buffer_info_t>(core.info()); });
}

int AM_BufferSetReference(AM_buffer_t buffer, uint64_t reference) {
  return with_buffer("AM_BufferSetReference", buffer,
                     [&](auto& core) { core.set_reference(reference); });
}

int AM_BufferGet(AM_buffer_t buffer, AM_buffer_info_t source) {
  return am::c::transfer("AM_BufferGet", buffer, source, false);
}

int AM_BufferPut(AM_buffer_t buffer, AM_buffer_info_t destination) {
  return am::c::transfer("AM_BufferPut", buffer, destination, true);
}

int AM_BufferDeregister(AM_buffer_t buffer) {
  return with_buffer("AM_BufferDeregister", buffer, [](auto& core) { core.deregister_memory(); });
}

int AM_BufferRegister(AM_buffer_t buffer) {
  return with_buffer("AM_BufferRegister", buffer, [](auto& core) { core.register_memory(); });
}

int AM_BufferInFlight(AM_buffer_t buffer, int* transfers) {
  constexpr const char* kCall = "AM_BufferInFlight";
  if (const int code = check_result(kCall, transfers)) return code;
  return with_buffer(kCall, buffer,
                     [&](auto& core) { *transfers = static_cast<int>(core.under_way()); });
}
