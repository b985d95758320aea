// The calls of messages.h with the number of arguments in their names, 0 to 16: AM_Request0() to
// AM_GetXferAsync16(). Inline functions that pass their arguments as an array, but for short
// requests and replies of 0 to 4, which are functions of the library, as in registers they are
// faster. All of one number are made by one line at the end.
#ifndef SPLITPHASE_AM_C_NUMBERED_H
#define SPLITPHASE_AM_C_NUMBERED_H

#include "am/c/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

// Parameters and arguments.
#define AM_PARAMETERS_0
#define AM_PARAMETERS_1 , int32_t a0
#define AM_PARAMETERS_2 AM_PARAMETERS_1, int32_t a1
#define AM_PARAMETERS_3 AM_PARAMETERS_2, int32_t a2
#define AM_PARAMETERS_4 AM_PARAMETERS_3, int32_t a3
#define AM_PARAMETERS_5 AM_PARAMETERS_4, int32_t a4
#define AM_PARAMETERS_6 AM_PARAMETERS_5, int32_t a5
#define AM_PARAMETERS_7 AM_PARAMETERS_6, int32_t a6
#define AM_PARAMETERS_8 AM_PARAMETERS_7, int32_t a7
#define AM_PARAMETERS_9 AM_PARAMETERS_8, int32_t a8
#define AM_PARAMETERS_10 AM_PARAMETERS_9, int32_t a9
#define AM_PARAMETERS_11 AM_PARAMETERS_10, int32_t a10
#define AM_PARAMETERS_12 AM_PARAMETERS_11, int32_t a11
#define AM_PARAMETERS_13 AM_PARAMETERS_12, int32_t a12
#define AM_PARAMETERS_14 AM_PARAMETERS_13, int32_t a13
#define AM_PARAMETERS_15 AM_PARAMETERS_14, int32_t a14
#define AM_PARAMETERS_16 AM_PARAMETERS_15, int32_t a15
// (An array has an element at least.)
#define AM_ARGUMENTS_0 0
#define AM_ARGUMENTS_1 a0
#define AM_ARGUMENTS_2 AM_ARGUMENTS_1, a1
#define AM_ARGUMENTS_3 AM_ARGUMENTS_2, a2
#define AM_ARGUMENTS_4 AM_ARGUMENTS_3, a3
#define AM_ARGUMENTS_5 AM_ARGUMENTS_4, a4
#define AM_ARGUMENTS_6 AM_ARGUMENTS_5, a5
#define AM_ARGUMENTS_7 AM_ARGUMENTS_6, a6
#define AM_ARGUMENTS_8 AM_ARGUMENTS_7, a7
#define AM_ARGUMENTS_9 AM_ARGUMENTS_8, a8
#define AM_ARGUMENTS_10 AM_ARGUMENTS_9, a9
#define AM_ARGUMENTS_11 AM_ARGUMENTS_10, a10
#define AM_ARGUMENTS_12 AM_ARGUMENTS_11, a11
#define AM_ARGUMENTS_13 AM_ARGUMENTS_12, a12
#define AM_ARGUMENTS_14 AM_ARGUMENTS_13, a13
#define AM_ARGUMENTS_15 AM_ARGUMENTS_14, a14
#define AM_ARGUMENTS_16 AM_ARGUMENTS_15, a15

#define AM_FEW(M)                                                                   \
  int AM_Request##M(ep_t endpoint, int index, handler_t handler AM_PARAMETERS_##M); \
  int AM_Reply##M(void* token, handler_t handler AM_PARAMETERS_##M);

#define AM_MANY(M)                                                                                 \
  static inline int AM_Request##M(ep_t endpoint, int index, handler_t handler AM_PARAMETERS_##M) { \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                     \
    return AM_RequestArgs(endpoint, index, handler, M, args);                                      \
  }                                                                                                \
  static inline int AM_Reply##M(void* token, handler_t handler AM_PARAMETERS_##M) {                \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                     \
    return AM_ReplyArgs(token, handler, M, args);                                                  \
  }

#define AM_REQUESTS(M)                                                                         \
  static inline int AM_RequestI##M(ep_t endpoint, int index, handler_t handler,                \
                                   const void* source, size_t nbytes AM_PARAMETERS_##M) {      \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                 \
    return AM_RequestIArgs(endpoint, index, handler, source, nbytes, M, args);                 \
  }                                                                                            \
  static inline int AM_RequestXfer##M(ep_t endpoint, int index, uintptr_t dest_offset,         \
                                      handler_t handler, const void* source,                   \
                                      size_t nbytes AM_PARAMETERS_##M) {                       \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                 \
    return AM_RequestXferArgs(endpoint, index, dest_offset, handler, source, nbytes, M, args); \
  }                                                                                            \
  static inline int AM_RequestXferAsync##M(ep_t endpoint, int index, uintptr_t dest_offset,    \
                                           handler_t handler, const void* source,              \
                                           size_t nbytes AM_PARAMETERS_##M) {                  \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                 \
    return AM_RequestXferAsyncArgs(endpoint, index, dest_offset, handler, source, nbytes, M,   \
                                   args);                                                      \
  }

#define AM_REPLIES(M)                                                                      \
  static inline int AM_ReplyI##M(void* token, handler_t handler, const void* source,       \
                                 size_t nbytes AM_PARAMETERS_##M) {                        \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                             \
    return AM_ReplyIArgs(token, handler, source, nbytes, M, args);                         \
  }                                                                                        \
  static inline int AM_ReplyXfer##M(void* token, uintptr_t dest_offset, handler_t handler, \
                                    const void* source, size_t nbytes AM_PARAMETERS_##M) { \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                             \
    return AM_ReplyXferArgs(token, dest_offset, handler, source, nbytes, M, args);         \
  }

#define AM_GETS(M)                                                                                \
  static inline int AM_GetXfer##M(ep_t endpoint, int index, uintptr_t source_offset,              \
                                  handler_t handler, uintptr_t dest_offset,                       \
                                  size_t nbytes AM_PARAMETERS_##M) {                              \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                    \
    return AM_GetXferArgs(endpoint, index, source_offset, handler, dest_offset, nbytes, M, args); \
  }                                                                                               \
  static inline int AM_GetXferAsync##M(ep_t endpoint, int index, uintptr_t source_offset,         \
                                       handler_t handler, uintptr_t dest_offset,                  \
                                       size_t nbytes AM_PARAMETERS_##M) {                         \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                                    \
    return AM_GetXferAsyncArgs(endpoint, index, source_offset, handler, dest_offset, nbytes, M,   \
                               args);                                                             \
  }

#define AM_NUMBERED(LENGTH, M) LENGTH(M) AM_REQUESTS(M) AM_REPLIES(M) AM_GETS(M)

AM_NUMBERED(AM_FEW, 0)
AM_NUMBERED(AM_FEW, 1)
AM_NUMBERED(AM_FEW, 2)
AM_NUMBERED(AM_FEW, 3)
AM_NUMBERED(AM_FEW, 4)
AM_NUMBERED(AM_MANY, 5)
AM_NUMBERED(AM_MANY, 6)
AM_NUMBERED(AM_MANY, 7)
AM_NUMBERED(AM_MANY, 8)
AM_NUMBERED(AM_MANY, 9)
AM_NUMBERED(AM_MANY, 10)
AM_NUMBERED(AM_MANY, 11)
AM_NUMBERED(AM_MANY, 12)
AM_NUMBERED(AM_MANY, 13)
AM_NUMBERED(AM_MANY, 14)
AM_NUMBERED(AM_MANY, 15)
AM_NUMBERED(AM_MANY, 16)

#ifdef __cplusplus
}
#endif

#endif
