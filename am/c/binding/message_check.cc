#include "am/c/binding/message_check.h"

#include <string>

#include "am/c/binding/errors.h"

namespace am::c {

int check_message(const char* call, const Outgoing& message) noexcept {
  if (is_valid(message)) return AM_OK;
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
  return fail(AM_ERR_BAD_ARG, call, why);
}

int fail_not_mapped(const char* call, int index) noexcept {
  return fail(AM_ERR_BAD_ARG, call,
              "translation " + std::to_string(index) +
                  " is not mapped; give it a name and a tag with AM_Map()");
}

}  // namespace am::c
