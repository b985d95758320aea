// The tables of an endpoint, its tag and its segment: every function that sets or looks something
// up, with every code that it may return. Checked against the text of am/c/am2.h.
#include <string.h>

#include "tests/am/c/check.h"

static void on_nothing(void* token) { (void)token; }
static void on_something(void* token) { (void)token; }

static ep_t make(en_t* name) {
  ep_t made;
  CHECK_OK(AM_AllocateEndpoint(bundle, &made, name));
  return made;
}

static void an_endpoint_is_new(void) {
  en_t name, again;
  eb_t in;
  tag_t tag = 1;
  void* address = &name;
  uintptr_t nbytes = 1;
  const ep_t one = make(&name);
  CHECK_OK(AM_GetTag(one, &tag));
  CHECK(tag == AM_NONE);
  CHECK_OK(AM_GetSeg(one, &address, &nbytes));
  CHECK(address == NULL && nbytes == 0);
  CHECK_OK(AM_GetEndpointName(one, &again));
  CHECK(memcmp(&name, &again, sizeof name) == 0);
  CHECK_OK(AM_GetEndpointBundle(one, &in));
  CHECK(in == bundle);
  for (int i = 0; i < 256; ++i) CHECK_RETURNS(AM_ERR_RESOURCE, AM_GetTranslationInuse(one, i));
  CHECK_OK(AM_FreeEndpoint(one));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_FreeEndpoint(one));
}

static void names_tell_endpoints_apart(void) {
  en_t a, b;
  const ep_t one = make(&a);
  const ep_t other = make(&b);
  CHECK(AM_SameEndpoint(a, a) && !AM_SameEndpoint(a, b));
  CHECK_OK(AM_FreeEndpoint(one));
  CHECK_OK(AM_FreeEndpoint(other));
}

static void tags_are_kept(void) {
  en_t name;
  tag_t tag;
  const tag_t tags[] = {7, AM_ALL, AM_NONE, UINT64_C(1) << 63};
  const ep_t one = make(&name);
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(AM_SetTag(one, tags[i]));
    CHECK_OK(AM_GetTag(one, &tag));
    CHECK(tag == tags[i]);
  }
  CHECK_OK(AM_FreeEndpoint(one));
}

static void segments_are_kept(void) {
  en_t name;
  void *shared, *address;
  uintptr_t size, nbytes, most;
  const ep_t one = make(&name);
  CHECK_OK(AM_GetProcessSegment(&shared, &size));
  CHECK_OK(AM_MaxSegLength(&most));
  CHECK(most == (uintptr_t)-1);
  CHECK_OK(AM_SetSeg(one, (char*)shared + 8, 100));
  CHECK_OK(AM_GetSeg(one, &address, &nbytes));
  CHECK(address == (char*)shared + 8 && nbytes == 100);
  CHECK_OK(AM_SetSeg(one, &nbytes, sizeof nbytes));  // any memory
  CHECK_OK(AM_GetSeg(one, &address, &nbytes));
  CHECK(address == &nbytes && nbytes == sizeof nbytes);
  CHECK_OK(AM_SetSeg(one, NULL, most));
  CHECK_OK(AM_GetSeg(one, &address, &nbytes));
  CHECK(address == NULL && nbytes == most);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetSeg(one, NULL, 10));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetSeg(one, NULL, most / 2));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetSeg(one, &nbytes, most));  // beyond the last address
  CHECK_OK(AM_SetSeg(one, NULL, 0));
  CHECK_OK(AM_GetSeg(one, &address, &nbytes));
  CHECK(address == NULL && nbytes == 0);
  CHECK_OK(AM_FreeEndpoint(one));
}

static void translations_are_bound_and_unbound(void) {
  en_t name, found;
  tag_t tag;
  int index = -1;
  const ep_t one = make(&name);
  CHECK_OK(AM_Map(one, 5, name, 77));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Map(one, 5, name, 77));
  CHECK_OK(AM_GetTranslationInuse(one, 5));
  CHECK_OK(AM_GetTranslationName(one, 5, &found));
  CHECK(AM_SameEndpoint(name, found));
  CHECK_OK(AM_GetTranslationTag(one, 5, &tag));
  CHECK(tag == 77);
  CHECK_OK(AM_SetTranslationTag(one, 5, 78));
  CHECK_OK(AM_GetTranslationTag(one, 5, &tag));
  CHECK(tag == 78);
  CHECK_OK(AM_MapAny(one, &index, name, 1));
  CHECK_EQ(index, 0);
  CHECK_OK(AM_MapAny(one, &index, name, 1));
  CHECK_EQ(index, 1);
  CHECK_OK(AM_UnMap(one, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_Unmap(one, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_GetTranslationInuse(one, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_GetTranslationName(one, 0, &found));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_GetTranslationTag(one, 0, &tag));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_SetTranslationTag(one, 0, tag));
  CHECK_OK(AM_MapAny(one, &index, name, 1));
  CHECK_EQ(index, 0);
  CHECK_OK(AM_FreeEndpoint(one));
}

static void wrong_translations_are_refused(void) {
  en_t name, wild;
  int index, count;
  const ep_t one = make(&name);
  CHECK_OK(AM_GetNumTranslations(one, &count));
  CHECK(count >= 256);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Map(one, -1, name, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Map(one, count, name, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Unmap(one, count));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetTranslationInuse(one, count));
  memset(&wild, 0xff, sizeof wild);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Map(one, 0, wild, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_MapAny(one, &index, wild, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_MapAny(one, NULL, name, 1));
  for (int i = 0; i < count; ++i) CHECK_OK(AM_MapAny(one, &index, name, 1));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_MapAny(one, &index, name, 1));
  CHECK_OK(AM_FreeEndpoint(one));
}

static void the_translation_table_has_a_size(void) {
  en_t name;
  int count, most, now;
  const ep_t one = make(&name);
  CHECK_OK(AM_MaxNumTranslations(&most));
  CHECK_OK(AM_GetNumTranslations(one, &count));
  CHECK(count <= most);
  CHECK_OK(AM_SetNumTranslations(one, count));
  CHECK_OK(AM_Map(one, 3, name, 1));
  CHECK_OK(AM_SetNumTranslations(one, 2000));
  CHECK_OK(AM_GetNumTranslations(one, &now));
  CHECK_EQ(now, 2000);
  CHECK_OK(AM_GetTranslationInuse(one, 3));
  CHECK_OK(AM_Map(one, 1999, name, 1));
  CHECK_OK(AM_Unmap(one, 1999));
  CHECK_OK(AM_SetNumTranslations(one, 4));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Map(one, 4, name, 1));
  CHECK_OK(AM_SetExpectedResources(one, count, 4));
  CHECK_OK(AM_GetNumTranslations(one, &now));
  CHECK_EQ(now, count);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetNumTranslations(one, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_SetNumTranslations(one, most + 1));
  CHECK_OK(AM_Map(one, count - 1, name, 1));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_SetNumTranslations(one, count - 1));
  CHECK_OK(AM_SetExpectedResources(one, 1, 1));
  CHECK_OK(AM_SetExpectedResources(one, count, 1000000));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetExpectedResources(one, 0, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetExpectedResources(one, 1, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_SetExpectedResources(one, most + 1, 1));
  CHECK_OK(AM_FreeEndpoint(one));
}

static void handlers_are_set_once(void) {
  en_t name;
  handler_t index = -1;
  AM_handler_fn_t found;
  const ep_t one = make(&name);
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_GetHandler(one, 9, &found));
  CHECK_OK(AM_SetHandler(one, 9, on_nothing));
  CHECK_OK(AM_GetHandler(one, 9, &found));
  CHECK(found == (AM_handler_fn_t)on_nothing);
  CHECK_RETURNS(AM_ERR_IN_USE, AM_SetHandler(one, 9, on_something));
  CHECK_OK(AM_ReplaceHandler(one, 9, on_something));
  CHECK_OK(AM_GetHandler(one, 9, &found));
  CHECK(found == (AM_handler_fn_t)on_something);
  CHECK_OK(AM_SetHandlerAny(one, &index, on_nothing));
  CHECK_EQ(index, 1);  // 0 is that of returned messages
  CHECK_OK(AM_SetHandler(one, 0, on_nothing));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_SetHandler(one, 0, on_nothing));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetHandler(one, -1, on_nothing));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetHandler(one, 256, on_nothing));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetHandler(one, 3, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetHandlerAny(one, NULL, on_nothing));
  for (int i = 3; i < 256; ++i) CHECK_OK(AM_SetHandlerAny(one, &index, on_nothing));
  CHECK_EQ(index, 255);
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_SetHandlerAny(one, &index, on_nothing));
  CHECK_OK(AM_FreeEndpoint(one));
}

static void the_handler_table_has_a_size(void) {
  en_t name;
  int count;
  const ep_t one = make(&name);
  CHECK_OK(AM_MaxNumHandlers(&count));
  CHECK_EQ(count, 256);
  CHECK_OK(AM_GetNumHandlers(one, &count));
  CHECK_EQ(count, 256);
  CHECK_OK(AM_SetHandler(one, 200, on_nothing));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_SetNumHandlers(one, 200));
  CHECK_OK(AM_SetNumHandlers(one, 201));
  CHECK_OK(AM_GetNumHandlers(one, &count));
  CHECK_EQ(count, 201);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetHandler(one, 201, on_nothing));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetNumHandlers(one, 0));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_SetNumHandlers(one, 257));
  CHECK_OK(AM_FreeEndpoint(one));
}

static void bundles_are_made_and_freed(void) {
  eb_t one = NULL;
  int mask = -1;
  CHECK_OK(AM_AllocateBundle(AM_SEQ, &one));
  CHECK_OK(AM_GetEventMask(one, &mask));
  CHECK_EQ(mask, AM_NOEVENTS);
  CHECK_OK(AM_FreeBundle(one));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_FreeBundle(one));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Poll(one));
  CHECK_OK(AM_AllocateBundle(AM_PAR, &one));
  CHECK_OK(AM_FreeBundle(one));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_AllocateBundle(99, &one));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_AllocateBundle(AM_SEQ, NULL));
}

static void a_bundle_takes_its_endpoints_along(void) {
  eb_t one;
  ep_t members[3];
  en_t name;
  CHECK_OK(AM_AllocateBundle(bundle_type(), &one));
  for (int i = 0; i < 3; ++i) CHECK_OK(AM_AllocateEndpoint(one, &members[i], &name));
  CHECK_OK(AM_FreeEndpoint(members[1]));
  CHECK_OK(AM_FreeBundle(one));
  for (int i = 0; i < 3; ++i) CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetTag(members[i], 1));
}

static void endpoints_move(void) {
  eb_t one, other, in;
  ep_t member;
  en_t name;
  CHECK_OK(AM_AllocateBundle(bundle_type(), &one));
  CHECK_OK(AM_AllocateBundle(bundle_type(), &other));
  CHECK_OK(AM_AllocateEndpoint(one, &member, &name));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_MoveEndpoint(member, other, one));
  CHECK_OK(AM_MoveEndpoint(member, one, other));
  CHECK_OK(AM_GetEndpointBundle(member, &in));
  CHECK(in == other);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_MoveEndpoint(member, one, other));
  CHECK_OK(AM_FreeBundle(one));
  CHECK_OK(AM_GetEndpointBundle(member, &in));
  CHECK_OK(AM_FreeBundle(other));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetEndpointBundle(member, &in));
}

static void wild_pointers_are_recognized(void) {
  static char memory[64];
  void* const wild[] = {NULL,     memory,        (char*)endpoint + 1, (char*)bundle + 1,
                        (void*)8, (void*)&bundle};
  int count;
  for (size_t i = 0; i < sizeof wild / sizeof wild[0]; ++i) {
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Poll((eb_t)wild[i]));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_SetEventMask((eb_t)wild[i], AM_NOTEMPTY));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Wait((eb_t)wild[i]));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0((ep_t)wild[i], 0, 1));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetNumHandlers((ep_t)wild[i], &count));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_FreeEndpoint((ep_t)wild[i]));
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(wild[i], 1));
  }
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Poll((eb_t)(void*)endpoint));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetNumHandlers(endpoint, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetTag(endpoint, NULL));
}

static void constants_are_those_of_berkeley(void) {
  CHECK_EQ(AM_OK, 0);
  CHECK(AM_NONE == 0 && AM_ALL == ~UINT64_C(0));
  CHECK(AM_MaxShort() >= 8 && AM_MaxMedium() >= 512 && AM_MaxLong() >= 8192);
  CHECK_EQ(AM_MaxShort(), 16);
  const int statuses[] = {EBADARGS,   EBADENTRY,    EBADTAG,     EBADHANDLER,  EBADSEGOFF,
                          EBADLENGTH, EBADENDPOINT, ECONGESTION, EUNREACHABLE, EREPLYREJECTED};
  for (int i = 0; i < 10; ++i) CHECK_EQ(statuses[i], i + 1);
  const int opcodes[] = {AM_REQUEST_M, AM_REQUEST_IM, AM_REQUEST_XFER_M,
                         AM_REPLY_M,   AM_REPLY_IM,   AM_REPLY_XFER_M};
  for (int i = 0; i < 6; ++i) CHECK_EQ(opcodes[i], i + 1);
  CHECK(strcmp(AM_ErrorName(AM_ERR_IN_USE), "AM_ERR_IN_USE") == 0);
  CHECK(strcmp(AM_StatusName(EBADSEGOFF), "EBADSEGOFF") == 0);
}

static void errors_are_sentences(void) {
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, 255, 300));
  CHECK(strstr(AM_ErrorSentence(), "AM_Request: handler 300") != NULL);
  CHECK(strncmp(AM_ErrorSentence(), "rank ", 5) == 0);
  const int before = AM_SetVerboseErrors(1);
  CHECK_EQ(AM_SetVerboseErrors(before), 1);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"an endpoint is new", an_endpoint_is_new},
      {"names tell endpoints apart", names_tell_endpoints_apart},
      {"tags are kept", tags_are_kept},
      {"segments are kept", segments_are_kept},
      {"translations are bound and unbound", translations_are_bound_and_unbound},
      {"wrong translations are refused", wrong_translations_are_refused},
      {"the translation table has a size", the_translation_table_has_a_size},
      {"handlers are set once", handlers_are_set_once},
      {"the handler table has a size", the_handler_table_has_a_size},
      {"bundles are made and freed", bundles_are_made_and_freed},
      {"a bundle takes its endpoints along", a_bundle_takes_its_endpoints_along},
      {"endpoints move", endpoints_move},
      {"wild pointers are recognized", wild_pointers_are_recognized},
      {"constants are those of Berkeley", constants_are_those_of_berkeley},
      {"errors are sentences", errors_are_sentences},
  };
  return RUN_CASES(argc, argv, cases);
}
