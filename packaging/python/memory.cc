// Memory of this process's segment as NumPy arrays, and the bytes of those that the program passes.

#include <utility>
#include <vector>

#include "am/types/types.h"
#include "binding.h"
#include "splitc/pointer/allocate.h"

namespace splitphase_python {
namespace {

// A block that lives as long as the arrays over it.
class LocalBlock : public Shown {
 public:
  explicit LocalBlock(std::size_t bytes)
      : job_(job_number()), data_(splitc::local_malloc<std::byte>(bytes)) {}
  ~LocalBlock() override {
    if (is_running() && job_number() == job_) leave(std::make_unique<Freed>(data_));
  }
  void* data() const noexcept { return data_; }

 private:
  struct Freed : Leftover {
    explicit Freed(void* block) : data(block) {}
    ~Freed() override { splitc::local_free(data); }
    void* const data;
  };
  const std::uint64_t job_;
  void* const data_;
};

py::array buffer(const py::object& shape, const py::object& kind) {
  check_running("splitphase.buffer");
  const py::dtype type = py::dtype::from_args(kind);
  check_type(type, "splitphase.buffer");
  check_thread("splitphase.buffer");
  end_leftovers();
  std::vector<py::ssize_t> sizes;
  std::size_t elements = 1;
  for (const py::handle size : py::isinstance<py::int_>(shape) ? py::make_tuple(shape) : shape) {
    sizes.push_back(size.cast<py::ssize_t>());
    if (sizes.back() < 0 || __builtin_mul_overflow(elements, sizes.back(), &elements)) {
      refuse("splitphase.buffer",
             "there is no array of shape " + py::str(shape).cast<std::string>());
    }
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<std::size_t>(type.itemsize()), &bytes)) {
    refuse("splitphase.buffer",
           "there is no memory for the shape " + py::str(shape).cast<std::string>());
  }
  auto block = std::make_unique<LocalBlock>(bytes);
  void* const data = block->data();
  if (bytes != 0) std::memset(data, 0, bytes);
  return show(data, type, std::move(sizes), std::move(block));
}

}  // namespace

py::array show(void* data, const py::dtype& type, std::vector<py::ssize_t> shape,
               std::unique_ptr<Shown> shown) {
  const py::capsule base(shown.get(), [](void* owned) { delete static_cast<Shown*>(owned); });
  static_cast<void>(shown.release());
  return py::array(type, std::move(shape), data, base);
}

std::string name_of(const py::dtype& type) {
  return py::str(static_cast<const py::handle&>(type)).cast<std::string>();
}

void check_type(const py::dtype& type, const char* call) {
  constexpr std::string_view kKinds = "biufc";
  if (kKinds.find(type.kind()) != std::string_view::npos && type.attr("isnative").cast<bool>()) {
    return;
  }
  refuse(call, "elements of type " + name_of(type) +
                   " do not travel; use bool, integers, floating-point or complex numbers in this "
                   "machine's byte order");
}

std::span<const std::byte> bytes_of(const py::array& array, const char* call) {
  check_type(array.dtype(), call);
  if ((array.flags() & py::array::c_style) == 0) {
    refuse(call, "the array is not contiguous; pass numpy.ascontiguousarray(array)");
  }
  return {static_cast<const std::byte*>(array.data()), static_cast<std::size_t>(array.nbytes())};
}

std::span<std::byte> writable_bytes_of(py::array& array, const char* call) {
  const auto bytes = bytes_of(array, call);
  if (!array.writeable()) {
    refuse(call, "the array may not be written; pass a copy of it");
  }
  return {static_cast<std::byte*>(array.mutable_data()), bytes.size()};
}

py::array contiguous(const py::object& value, const py::object& type) {
  return py::module_::import("numpy").attr("ascontiguousarray")(value, type);
}

void define_memory(py::module_& module) {
  module.def("buffer", &buffer, py::arg("shape"), py::arg("dtype"),
             "A NumPy array of zeros in this process's segment, as channels need it. Not "
             "collective. The memory is freed with the last array over it.");
}

}  // namespace splitphase_python
