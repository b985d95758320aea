#pragma once

#include <cstddef>

// malloc() and its like of translated programs: the memory is in this process's segment, so that it
// has global addresses, as all memory had. If the segment is full, or before splitc_main(), it is
// the C library's, which has none. Each is otherwise as the function of C; free and realloc take
// memory of the C library, too. The world's thread, handlers included; the C library's own free()
// and realloc() may not be given memory of the segment.
//
// The segment goes with the job. In a handler of atexit(), which runs after it, free of such memory
// does nothing, and realloc gives NULL.

namespace splitc::compat {

void* c_malloc(std::size_t bytes) noexcept;
void* c_calloc(std::size_t count, std::size_t bytes) noexcept;
void* c_realloc(void* p, std::size_t bytes) noexcept;
void c_free(void* p) noexcept;

}  // namespace splitc::compat
