#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>

#include "am/c/am2.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/binding/message_check.h"
#include "am/job/bootstrap/endings.h"
#include "am/types/of_thread.h"
#include "am/types/types.h"

namespace am::c {

namespace {

// What refuse() throws.
struct Refused {
  int code;
  std::string what;
};

// A thread's last sentence. (That of main()'s thread is used in functions that exit() calls, too.)
using Kept = std::array<char, 2048>;

int keep(int code, std::string_view sentence) {
  // One that would have to wait is tried again and again.
  if (Library::get().verbose() && code != AM_ERR_NOT_SENT) print_sentence(sentence);
  Kept& kept = OfThread<Kept>::get();
  *std::ranges::copy(sentence.substr(0, kept.size() - 1), kept.begin()).out = '\0';
  return code;
}

}  // namespace

int fail(int code, const char* call, std::string_view what) noexcept {
  try {
    return keep(code, Library::get().prefix() + call + ": " + std::string(what));
  } catch (...) {  // no memory for a sentence
    return code;
  }
}

void refuse(int code, std::string what) { throw Refused{code, std::move(what)}; }

int fail_by_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const Refused& refused) {
    return fail(refused.code, call, refused.what);
  } catch (const Error& error) {
    try {
      return keep(AM_ERR_RESOURCE, error.what());
    } catch (...) {
      return AM_ERR_RESOURCE;
    }
  } catch (const std::exception& error) {
    return fail(AM_ERR_RESOURCE, call, error.what());
  } catch (...) {
    return fail(AM_ERR_RESOURCE, call, "a handler has thrown something that is no std::exception");
  }
}

void check_message(const Outgoing& message) {
  if (is_valid(message)) return;
  std::string why;
  if (message.handler <= 0 || message.handler >= kHandlers) {
    why = "handler " + std::to_string(message.handler) + " can have no message; give one of 1 to " +
          std::to_string(kHandlers - 1);
  } else if (message.numargs < 0 || message.numargs > AM_MaxShort()) {
    why = std::to_string(message.numargs) + " arguments; a message has 0 to " +
          std::to_string(AM_MaxShort());
  } else if (message.numargs != 0 && message.args == nullptr) {
    why = "NULL is no array of " + std::to_string(message.numargs) + " arguments";
  } else if (message.nbytes > max_payload(message.kind)) {
    why = std::to_string(message.nbytes) + " bytes are too many; this message takes at most " +
          std::to_string(max_payload(message.kind));
  } else {
    why = "NULL is no payload of " + std::to_string(message.nbytes) + " bytes";
  }
  refuse(AM_ERR_BAD_ARG, why);
}

void check_mapped(const Endpoint& endpoint, int index) {
  if (index >= 0 && endpoint.mapped(static_cast<std::uint32_t>(index))) return;
  refuse(AM_ERR_BAD_ARG, "translation " + std::to_string(index) +
                             " is not mapped; give it a name and a tag with AM_Map()");
}

int fail_no_credit(const char* call, int index) noexcept {
  return fail(AM_ERR_NOT_SENT, call,
              "there is no credit for translation " + std::to_string(index) +
                  " now; AM_Poll() and try again");
}

void check_prepared_bytes(std::size_t nbytes) {
  if (nbytes <= max_payload(Kind::kMedium)) return;
  refuse(AM_ERR_BAD_ARG, std::to_string(nbytes) +
                             " bytes are too many; a medium payload has at most " +
                             std::to_string(max_payload(Kind::kMedium)));
}

void check_committed_bytes(std::size_t nbytes, std::size_t prepared) {
  if (nbytes <= prepared) return;
  refuse(AM_ERR_BAD_ARG, std::to_string(nbytes) + " bytes are more than the " +
                             std::to_string(prepared) +
                             " that were prepared; prepare as many as may be needed");
}

}  // namespace am::c

using am::c::Library;

const char* AM_ErrorSentence() {
  const am::c::Kept* const kept = am::OfThread<am::c::Kept>::find();
  return kept == nullptr ? "" : kept->data();
}

int AM_SetVerboseErrors(int verbose) { return Library::get().set_verbose(verbose != 0) ? 1 : 0; }

const char* AM_ErrorName(int code) {
  switch (code) {
    case AM_OK: return "AM_OK";
    case AM_ERR_NOT_INIT: return "AM_ERR_NOT_INIT";
    case AM_ERR_BAD_ARG: return "AM_ERR_BAD_ARG";
    case AM_ERR_RESOURCE: return "AM_ERR_RESOURCE";
    case AM_ERR_NOT_SENT: return "AM_ERR_NOT_SENT";
    case AM_ERR_IN_USE: return "AM_ERR_IN_USE";
    default: return "no code of AM-II";
  }
}

const char* AM_StatusName(int status) {
  switch (status) {
    case 0: return "delivered";
    case EBADARGS: return "EBADARGS";
    case EBADENTRY: return "EBADENTRY";
    case EBADTAG: return "EBADTAG";
    case EBADHANDLER: return "EBADHANDLER";
    case EBADSEGOFF: return "EBADSEGOFF";
    case EBADLENGTH: return "EBADLENGTH";
    case EBADENDPOINT: return "EBADENDPOINT";
    case ECONGESTION: return "ECONGESTION";
    case EUNREACHABLE: return "EUNREACHABLE";
    case EREPLYREJECTED: return "EREPLYREJECTED";
    default: return "no status of AM-II";
  }
}
