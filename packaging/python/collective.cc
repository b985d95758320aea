// What all processes do together with NumPy arrays, in their order of calls. Bytes are moved
// whatever they are; only what combines elements knows their type.

#include "splitc/collective/collective.h"

#include <complex>
#include <concepts>
#include <functional>
#include <type_traits>

#include "binding.h"

namespace splitphase_python {
namespace {

enum class Reduction { kSum, kMin, kMax };

// Combines two elements. One type for all operations, so that there is one copy of a collective
// call for each type of elements.
struct Combine {
  Reduction reduction;

  template <class T>
  T operator()(const T& a, const T& b) const {
    if constexpr (requires { a < b; }) {
      if (reduction == Reduction::kMin) return splitc::minimum()(a, b);
      if (reduction == Reduction::kMax) return splitc::maximum()(a, b);
    }
    if constexpr (std::integral<T>) {
      using Unsigned = std::make_unsigned_t<T>;  // a sum that is too large wraps, as NumPy's does
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};

Combine combine_by(const std::string& operation, char kind, const char* call) {
  if (operation == "sum") return {Reduction::kSum};
  if (operation != "min" && operation != "max") {
    refuse(call, "there is no operation '" + operation + "'; there are 'sum', 'min' and 'max'");
  }
  if (kind == 'c') refuse(call, "complex numbers have no order; 'sum' is what they have");
  return {operation == "min" ? Reduction::kMin : Reduction::kMax};
}

template <class T>
struct Type {
  using Element = T;
};
// Calls visit(Type<T>()) with the T that the elements are. Throws Error of `call` if there is none.
template <class Visit>
void with_type(const py::dtype& type, const char* call, Visit visit) {
  switch (type.kind() << 8 | static_cast<int>(type.itemsize())) {
    case 'i' << 8 | 1: return visit(Type<std::int8_t>());
    case 'i' << 8 | 2: return visit(Type<std::int16_t>());
    case 'i' << 8 | 4: return visit(Type<std::int32_t>());
    case 'i' << 8 | 8: return visit(Type<std::int64_t>());
    case 'u' << 8 | 1: return visit(Type<std::uint8_t>());
    case 'u' << 8 | 2: return visit(Type<std::uint16_t>());
    case 'u' << 8 | 4: return visit(Type<std::uint32_t>());
    case 'u' << 8 | 8: return visit(Type<std::uint64_t>());
    case 'f' << 8 | 4: return visit(Type<float>());
    case 'f' << 8 | 8: return visit(Type<double>());
    case 'c' << 8 | 8: return visit(Type<std::complex<float>>());
    case 'c' << 8 | 16: return visit(Type<std::complex<double>>());
    default: break;
  }
  refuse(call, "elements of type " + name_of(type) +
                   " cannot be combined; convert them by astype() to integers or to "
                   "floating-point or complex numbers of 4 or 8 bytes a part");
}

// A copy of `value` as a contiguous array.
py::array copy_of(const py::object& value) {
  return py::module_::import("numpy").attr("array")(value, py::arg("order") = "C");
}
// What an array of no dimensions is to the program: a number.
py::object number_or_array(const py::array& array) {
  return array.ndim() == 0 ? py::object(array[py::tuple()]) : py::object(array);
}

constexpr const char* kReduce = "splitphase.all_reduce";
py::object all_reduce(const py::object& value, const std::string& operation) {
  check_running(kReduce);
  const auto where = here();
  py::array result = copy_of(value);
  const Combine combine = combine_by(operation, result.dtype().kind(), kReduce);
  const auto bytes = writable_bytes_of(result, kReduce);
  with_type(result.dtype(), kReduce, [&](auto type) {
    using T = typename decltype(type)::Element;
    const std::span<T> elements(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    const py::gil_scoped_release others_run;
    splitc::all_reduce(elements, elements, combine, where);
  });
  return number_or_array(result);
}

constexpr const char* kScan = "splitphase.all_scan";
py::object all_scan(const py::object& value, const std::string& operation) {
  check_running(kScan);
  const auto where = here();
  py::array result = copy_of(value);
  if (result.ndim() != 0) refuse(kScan, "it takes one number of each process, and no array");
  const Combine combine = combine_by(operation, result.dtype().kind(), kScan);
  void* const at = writable_bytes_of(result, kScan).data();
  with_type(result.dtype(), kScan, [&](auto type) {
    using T = typename decltype(type)::Element;
    T& number = *static_cast<T*>(at);
    const py::gil_scoped_release others_run;
    number = splitc::all_scan(number, combine, where);
  });
  return number_or_array(result);
}

constexpr const char* kBroadcast = "splitphase.broadcast";
py::array broadcast(py::array array, std::uint32_t root) {
  check_running(kBroadcast);
  const auto where = here();
  const auto bytes = writable_bytes_of(array, kBroadcast);
  const py::gil_scoped_release others_run;
  splitc::all_bcast(bytes, root, where);
  return array;
}

constexpr const char* kGather = "splitphase.all_gather";
py::array all_gather(const py::object& value) {
  check_running(kGather);
  const auto where = here();
  const auto numpy = py::module_::import("numpy");
  const py::array mine =
      numpy.attr("array")(value, py::arg("order") = "C", py::arg("copy") = false);
  const auto bytes = bytes_of(mine, kGather);
  const py::object shape = py::make_tuple(splitc::procs()) + py::object(mine.attr("shape"));
  py::array all = numpy.attr("empty")(shape, mine.dtype());
  const auto room = writable_bytes_of(all, kGather);
  const py::gil_scoped_release others_run;
  splitc::all_gather(bytes, room, where);
  return all;
}

}  // namespace

void define_collective(py::module_& module) {
  module.def("all_reduce", &all_reduce, py::arg("value"), py::arg("op") = "sum",
             "Collective: 'sum', 'min' or 'max' over the arrays of all processes, element by "
             "element, as a new array; of a number each, a number.");
  module.def("all_scan", &all_scan, py::arg("value"), py::arg("op") = "sum",
             "Collective: 'sum', 'min' or 'max' over the numbers of processes 0 to my_proc().");
  module.def("broadcast", &broadcast, py::arg("array"), py::arg("root") = 0,
             "Collective: copies the array of `root` to those of all others, and returns it.");
  module.def("all_gather", &all_gather, py::arg("value"),
             "Collective: the arrays of all processes as one; [p] is that of process p.");
}

}  // namespace splitphase_python
